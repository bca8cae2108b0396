import type { KnownSetting } from './engine/data-root-setting.ts';
import type { EngineState } from './engine/engine.ts';
import { MOST_PATH_BYTES, type Location, type LongPath } from './locations.ts';
import { isInsideFolder } from '../../device/inside-folder.ts';
import type { MountEntry } from '../../device/disk/mounts.ts';
import { sizeText } from '../../format-bytes.ts';

/** What is known of the data root, of a place for it and of what is there to move it. */
export interface MoveFacts {
  setting: KnownSetting;
  engine: EngineState;
  /** The engine's storage driver; empty if that is not known and is none of SNAPSHOT_DRIVERS. */
  driver: string;
  /** What the engine says of itself leads elsewhere than the setting. */
  isElsewhere: boolean;
  /** Why nobody can start or stop the engine, if so. */
  serviceManagerFault: string | undefined;
  source: Location;
  target: Location;
  system: readonly MountEntry[];
  mountsInSource: readonly MountEntry[];
  mountsInTarget: readonly MountEntry[];
  subvolumes: readonly string[];
  /** Why nothing can be copied, if so. */
  copierFault: string | undefined;
  /** What is still to be copied, and all; undefined if it fits for certain, or is nothing. */
  need: { bytes: number; inodes: number; heldBytes: number } | undefined;
  /** What cannot be copied, as far as the data was walked over. */
  longPath: LongPath | undefined;
}

type Reason = (facts: MoveFacts) => string | undefined;

/** Why the data cannot be moved to the target: every reason, none if it can. */
export function reasonsAgainstMove(facts: MoveFacts): string[] {
  const ofPaths = [nothingThere, notMounted, insideSource, sourceInside];
  const ofContent = [foreignMounts, subvolumes, driverCannotMove, noRoom, noInodes, pathTooLong];
  return reasonsFrom([...ALWAYS, ...ofPaths, ...ofContent, noCopier], facts);
}

/** Why the engine cannot be pointed there. An old data root on the system disk is a way back. */
export function reasonsAgainstChange(
  facts: MoveFacts,
  { isDataRoot }: { isDataRoot: boolean },
): string[] {
  const ofPaths = isDataRoot ? [] : [notMounted, insideSource, sourceInside];
  return reasonsFrom([...ALWAYS, ...ofPaths], facts);
}

function reasonsFrom(reasons: readonly Reason[], facts: MoveFacts): string[] {
  return reasons.map((reason) => reason(facts)).filter((text) => text !== undefined);
}

/** 5 % above what is there. */
const MARGIN = 1.05;

const samePlace: Reason = ({ source, target }) =>
  isSamePlace(source, target) ? `${target.path} is where the container data is` : undefined;

const notAFolder: Reason = ({ target }) =>
  target.kind === 'file' ? `${target.path} leads to something that is no folder` : undefined;

const unsuitable: Reason = ({ target: { path, mount } }) =>
  SUITABLE.includes(mount.type)
    ? undefined
    : `${path} is on a file system of the type ${mount.type}, on which the engine cannot ` +
      `keep its layers; ${SUITABLE.slice(0, 3).join(', ')} and the like are fit`;

/**
 * With owners, modes, links, device nodes and the `trusted` extended attributes that overlays are
 * made of. Network file systems have not all of these.
 */
const SUITABLE = [
  ...['ext4', 'btrfs', 'xfs', 'f2fs', 'ext3', 'ext2'],
  ...['zfs', 'bcachefs', 'ubifs', 'nilfs2', 'jfs', 'reiserfs'],
];

const readOnly: Reason = ({ target: { path, mount } }) =>
  mount.isReadOnly ? `${path} is on ${mount.path}, which is mounted read-only` : undefined;

const mountsBelowTarget: Reason = ({ source, target, mountsInTarget: [first] }) =>
  first === undefined || isSamePlace(source, target) || isInside(source, target)
    ? undefined
    : `${first.path} is mounted below ${target.path}`;

const configuredElsewhere: Reason = ({ setting: { elsewhere, file } }) =>
  elsewhere === undefined
    ? undefined
    : `the engine is configured elsewhere: alt_config_file in ${file} names ${elsewhere}, ` +
      'and nothing else counts beside it';

const runsElsewhere: Reason = ({ setting, engine, isElsewhere }) =>
  engine.kind === 'answers' && isElsewhere
    ? `the engine works in ${engine.dataRoot}, but ${setting.file} leads to ${setting.path}: ` +
      'it is configured elsewhere'
    : undefined;

const uncommitted: Reason = ({ setting: { uncommittedFile } }) =>
  uncommittedFile === undefined
    ? undefined
    : `${uncommittedFile} holds changes to the engine's configuration that are not committed`;

const noServiceManager: Reason = ({ serviceManagerFault }) => serviceManagerFault;

const badName: Reason = ({ target: { path, real } }) => {
  const [character] = UNFIT_CHARACTER.exec(path + real) ?? [];
  if (character !== undefined) {
    return (
      `${path} has ${JSON.stringify(character)} in it, with which the engine does not start ` +
      'or does not find its containers again; no path may have : , \\ [ % " or control ' +
      'characters'
    );
  }
  return Math.max(Buffer.byteLength(path), Buffer.byteLength(real)) > MOST_TARGET_BYTES
    ? `${path} has more than ${MOST_TARGET_BYTES} bytes, with which the engine cannot mount ` +
        'its layers'
    : undefined;
};

/** Characters that dockerd cannot have in its data root (docs/reference/data-root-paths.md). */
const UNFIT_CHARACTER = /[:,\\[%"\p{Cc}]/u;
/** Longest target that dockerd can work in (docs/reference/data-root-paths.md). */
const MOST_TARGET_BYTES = 700;

const ALWAYS: readonly Reason[] = [
  ...[samePlace, badName, notAFolder, unsuitable, readOnly, mountsBelowTarget],
  ...[configuredElsewhere, runsElsewhere, uncommitted, noServiceManager],
];

const nothingThere: Reason = ({ source }) =>
  source.kind === 'folder' ? undefined : `there is no container data at ${source.path}`;

const notMounted: Reason = ({ target, system }) =>
  isOnSystem(target, system)
    ? `nothing is mounted at ${target.path}: it is on the file system of ` +
      `${target.mount.path}, the system's own`
    : undefined;

const insideSource: Reason = ({ source, target }) =>
  isInside(target, source) ? `${target.path} is inside ${source.path}` : undefined;

const sourceInside: Reason = ({ source, target }) =>
  isInside(source, target) ? `${source.path} is inside ${target.path}` : undefined;

const foreignMounts: Reason = ({ source, mountsInSource }) => {
  const foreign = mountsInSource.find(
    ({ device, type }) => device !== source.mount.device && !OF_CONTAINERS.includes(type),
  );
  return foreign === undefined
    ? undefined
    : `${foreign.path} is mounted inside the container data and would not be copied`;
};

/** What the engine itself mounts below its data root while containers run. */
const OF_CONTAINERS = [
  ...['overlay', 'aufs', 'fuse.fuse-overlayfs'],
  ...['tmpfs', 'nsfs', 'proc', 'sysfs', 'mqueue', 'devpts'],
];

const subvolumes: Reason = ({ subvolumes: [first] }) =>
  first === undefined ? undefined : `${first} is a btrfs subvolume, which cannot be copied as one`;

const driverCannotMove: Reason = ({ driver }) =>
  SNAPSHOT_DRIVERS.includes(driver)
    ? `the storage driver ${driver} keeps its layers as snapshots of the file system, which ` +
      'cannot be copied'
    : undefined;

export const SNAPSHOT_DRIVERS = ['btrfs', 'zfs', 'devicemapper', 'windowsfilter'];

const noRoom: Reason = ({ need, target }) => {
  const bytes = (need?.bytes ?? 0) * MARGIN;
  return bytes > target.freeBytes
    ? `${target.path} has too little space: ${sizeText(target.freeBytes)} are free, ` +
        `${sizeText(bytes)} are needed, which is what is there and 5 %`
    : undefined;
};

const noInodes: Reason = ({ need, target }) => {
  const inodes = Math.ceil((need?.inodes ?? 0) * MARGIN);
  return target.freeInodes !== undefined && inodes > target.freeInodes
    ? `${target.path} has too few inodes: ${target.freeInodes} are free, ${inodes} are needed`
    : undefined;
};

const pathTooLong: Reason = ({ longPath }) =>
  longPath === undefined ? undefined : longPathText(longPath);

export function longPathText({ folder, start }: LongPath): string {
  return (
    `a path in ${folder} has more than ${MOST_PATH_BYTES} bytes, which cannot be copied: ` +
    `${start}…`
  );
}

const noCopier: Reason = ({ copierFault }) => copierFault;

/** Whether a place is on a mount that holds the system. */
export function isOnSystem({ mount }: Location, system: readonly MountEntry[]): boolean {
  return system.some(({ device }) => device === mount.device);
}

/** Whether two ways lead to the same place. */
export function isSamePlace(one: Location, other: Location): boolean {
  return (
    one.real === other.real ||
    (one.location.device === other.location.device && one.location.path === other.location.path)
  );
}

function isInside(one: Location, other: Location): boolean {
  if (isInsideFolder(one.real, other.real)) return true;
  const [place, within] = [one.location, other.location];
  return place.device === within.device && isInsideFolder(place.path, within.path);
}
