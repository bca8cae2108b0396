import { DepotError, reasonOf, succeeds } from '../../errors.ts';
import type { EngineState } from './engine/engine.ts';
import type { ContainerHost } from './host.ts';
import type { Location } from './locations.ts';
import {
  isOnSystem,
  isSamePlace,
  reasonsAgainstChange,
  reasonsAgainstMove,
  SNAPSHOT_DRIVERS,
  type MoveFacts,
} from './reasons-against.ts';
import * as moves from './target-folder.ts';
import { moveFolder } from './target-layout.ts';

/** How a move to a target looks beforehand. */
export type MoveCheck =
  | { result: 'good' | 'existed'; facts: MoveFacts }
  | { result: 'bad'; reasons: string[] };

/** Whether the container data is on the system disk: the mount that holds `/` or `/overlay`. */
export async function isDataOnSystem({ settings, locations }: ContainerHost): Promise<boolean> {
  const { path } = await settings.read();
  return isOnSystem(await locations.inspect(path), await locations.system());
}

/** Whether an engine answers, or something is there that starts one. */
export async function hasEngine({ engine }: ContainerHost): Promise<boolean> {
  const isStarted = succeeds(engine.serviceManager());
  return (await engine.state()).kind !== 'absent' || (await isStarted);
}

/** Changes nothing. @param isExact whether the data is measured even if it fits for certain */
export async function checkMove(
  host: ContainerHost,
  target: string,
  { isExact }: { isExact: boolean },
): Promise<MoveCheck> {
  const gathered = await gather(host, target);
  if (typeof gathered === 'string') return { result: 'bad', reasons: [gathered] };
  const { facts, content } = gathered;
  if (facts.source.kind === 'folder') {
    facts.need = await measure(host, gathered, isExact);
    if (isExact) facts.longPath = await host.locations.longPath(facts.source.real);
  }
  return verdict(reasonsAgainstMove(facts), facts, content);
}

/** How it looks beforehand to point the engine at the target and nothing else. */
export async function checkChange(host: ContainerHost, target: string): Promise<MoveCheck> {
  const gathered = await gather(host, target);
  if (typeof gathered === 'string') return { result: 'bad', reasons: [gathered] };
  const { facts, content } = gathered;
  const held = await Promise.all(
    DATA_ROOT_FOLDERS.map((name) => host.locations.inspect(`${facts.target.real}/${name}`)),
  );
  const isDataRoot = held.every(({ kind }) => kind === 'folder');
  return verdict(reasonsAgainstChange(facts, { isDataRoot }), facts, content);
}

/** Folders that every dockerd makes in its data root. */
const DATA_ROOT_FOLDERS = ['containers', 'volumes'];

function verdict(reasons: string[], facts: MoveFacts, content: moves.TargetContent): MoveCheck {
  return reasons.length > 0
    ? { result: 'bad', reasons }
    : { result: content.isEmpty ? 'good' : 'existed', facts };
}

/** Longest target: the rest of PATH_MAX (4096, path_resolution(7)) is for what lies below. */
const MOST_TARGET_BYTES = 3072;

interface Gathered {
  facts: MoveFacts;
  content: moves.TargetContent;
}

/** Gathers the facts of a move. @returns why the target is bad in any case, if it is */
async function gather(
  { engine, settings, locations, copier }: ContainerHost,
  path: string,
): Promise<Gathered | string> {
  if (Buffer.byteLength(path) > MOST_TARGET_BYTES) {
    return `the path is too long: ${MOST_TARGET_BYTES} bytes are allowed`;
  }
  const setting = await settings.read();
  const target = await locations.inspect(path).catch((error: unknown) => {
    if (error instanceof DepotError && error.code === 'bad_request') return error.message;
    throw error;
  });
  if (typeof target === 'string') return target;
  const [state, source, system, serviceManagerFault, copierFault, content] = await Promise.all([
    engine.state(),
    locations.inspect(setting.path),
    locations.system(),
    engine.serviceManager().then(() => undefined, reasonOf),
    copier.fault(),
    moves.inspect(path),
  ]);
  const [mountsInSource, mountsInTarget] = await Promise.all(
    [source.real, target.real].map((folder) => locations.mountsBelow(folder)),
  );
  const subvolumes =
    source.mount.type === 'btrfs' && source.kind === 'folder'
      ? await locations.subvolumesBelow(source.real)
      : [];
  const isElsewhere =
    state.kind === 'answers' && !isSamePlace(await locations.inspect(state.dataRoot), source);
  const driver = await driverOf(locations, state, source);
  const facts = {
    setting,
    engine: state,
    driver,
    isElsewhere,
    serviceManagerFault,
    source,
    target,
    system,
    mountsInSource: mountsInSource ?? [],
    mountsInTarget: mountsInTarget ?? [],
    subvolumes,
    copierFault,
    need: undefined,
    longPath: undefined,
  };
  return { facts, content };
}

/** An engine that does not answer has left a folder named for its driver. */
async function driverOf(
  locations: ContainerHost['locations'],
  state: EngineState,
  { real }: Location,
): Promise<string> {
  if (state.kind === 'answers') return state.driver;
  const folders = await Promise.all(
    SNAPSHOT_DRIVERS.map((name) => locations.inspect(`${real}/image/${name}`)),
  );
  return SNAPSHOT_DRIVERS.find((_, index) => folders[index]?.kind === 'folder') ?? '';
}

/** If all of the source's file system fits, nobody has to wait for a walk over the data. */
async function measure(
  { locations }: ContainerHost,
  { facts: { source, target }, content }: Gathered,
  isExact: boolean,
): Promise<MoveFacts['need']> {
  const { used } = source;
  const isSure =
    used !== undefined &&
    used.bytes * 1.05 < target.freeBytes &&
    used.inodes * 1.05 < (target.freeInodes ?? Infinity);
  if (isSure && !isExact) return undefined;
  const held = await locations.usage(source.real);
  const copied = content.hasMove
    ? await locations.usage(moveFolder(target.real).folder)
    : { bytes: 0, inodes: 0 };
  return {
    bytes: Math.max(0, held.bytes - copied.bytes),
    inodes: Math.max(0, held.inodes - copied.inodes),
    heldBytes: held.bytes,
  };
}
