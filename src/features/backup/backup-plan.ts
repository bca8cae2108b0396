import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { freeBytesOf } from '../../device/disk/space.ts';
import { sizeText } from '../../format-bytes.ts';
import { DepotError, reasonOf } from '../../errors.ts';
import type { Job } from '../../jobs/job.ts';
import { slots } from '../../jobs/memory.ts';
import { plainAct, plainCommand, type Plan, type StepContext } from '../../jobs/plan.ts';
import { isPackageName } from '../../package-management/names.ts';
import { addedPackages, collect, type CollectTools } from './collect-set.ts';
import {
  hasTooMuch,
  MOST_MANIFEST_BYTES,
  textOf,
  type Manifest,
  type PackageFile,
  type Reason,
} from './manifest.ts';
import { RESERVE_BYTES, type Sets } from './sets.ts';
import { measure, unfinished, writeSet } from './write-set.ts';

export interface BackupTools extends CollectTools {
  sets: Sets;
  /** Called for each set that was written. */
  onWritten: (manifest: Manifest, file: string) => Promise<void>;
}

const place = slots('the backup', {
  file: v.string(),
  /** Where package files are fetched to; undefined if the set is to have none. */
  folder: v.optional(v.string()),
  names: v.optional(v.array(v.string()), []),
});

/** backup: a set of what the owner asked for and the configuration, and package files if asked. */
export function backupPlan(tools: BackupTools, { id, params }: Job): Plan {
  const { manager, sets } = tools;
  const tidyUp = plainAct('tidy-up', 'tidy up', async (context) => {
    const { file, folder } = place.find(context) ?? {};
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    if (file !== undefined) await rm(unfinished(file), { force: true });
  });
  return {
    steps: [
      {
        ...plainAct('choose', 'choose', async (context) => {
          const file = await sets.place(id, params.path);
          place.write(context, { file });
          if (params.with_packages !== '1') return;
          const names = await namesToFetch(tools);
          await needRoom(tools, names, dirname(file));
          const folder = join(dirname(file), `.${id}`);
          await rm(folder, { recursive: true, force: true });
          await mkdir(folder, { mode: 0o700 });
          place.write(context, { file, folder, names });
        }),
        // The set's name is on record first: it leads to what a power cut leaves of the file.
        isRecorded: true,
      },
      plainCommand('fetch', 'fetch', (context) => {
        const { folder, names } = place.read(context);
        return folder === undefined || names.length === 0
          ? undefined
          : manager.commands.fetch(names, folder);
      }),
      plainAct('write', 'write', async (context) => {
        const { file, folder } = place.read(context);
        const packages = folder === undefined ? [] : await fetchedPackages(tools, folder, context);
        await write(tools, { id, reason: 'asked', file, packages, folder });
        context.reportResult({ backup: id });
      }),
      tidyUp,
    ],
    repair: [tidyUp],
  };
}

interface WriteRequest {
  id: string;
  reason: Reason;
  file: string;
  packages?: PackageFile[];
  folder?: string | undefined;
  /** Limit for the size of the set; default: none. */
  mostBytes?: number;
}

const TRIES = 3;

/** What changes while it is read is read again. @throws DepotError no_space, internal */
export async function write(tools: BackupTools, request: WriteRequest): Promise<void> {
  const { id, reason, file, packages = [], folder = '', mostBytes = Infinity } = request;
  for (let tries = 1; ; tries += 1) {
    const { manifest, sourceOf } = await collect(tools, { id, reason });
    const whole: Manifest = { ...manifest, package_files: packages };
    checkReadable(whole);
    const bytes = [...whole.files, ...packages].reduce((sum, { bytes: each }) => sum + each, 0);
    const room = Math.min((await freeBytesOf(dirname(file))) - RESERVE_BYTES, mostBytes);
    if (bytes > room) {
      const [size, free] = [sizeText(bytes), sizeText(Math.max(0, room))];
      const message = `cannot write the backup: it has ${size}, and there is room for ${free}`;
      throw new DepotError('no_space', message);
    }
    try {
      await writeSet(file, whole, (name) =>
        name.startsWith('packages/') ? join(folder, name.slice(9)) : sourceOf(name),
      );
      await tools.onWritten(whole, file);
      return;
    } catch (error) {
      const isChanged = error instanceof DepotError && error.code === 'internal';
      if (!isChanged || tries === TRIES) throw error;
    }
  }
}

/** Nobody could bring back what is too large to be read. @throws DepotError too_large */
function checkReadable(set: Manifest): void {
  if (!hasTooMuch(set) && textOf(set).length <= MOST_MANIFEST_BYTES) return;
  const message = 'cannot write the backup: its configuration is too large';
  const remedy = 'Name less in /etc/sysupgrade.conf, then try again.';
  throw new DepotError('too_large', message, { explanation: { code: 'unknown', remedy } });
}

/** What the owner asked for and what came with it: a restore without a network needs all. */
async function namesToFetch({ manager }: BackupTools): Promise<string[]> {
  const wanted = (await addedPackages(manager)).map(({ name }) => name).filter(isPackageName);
  const offers = await manager.offers(wanted);
  return wanted.filter((name) => offers.has(name));
}

/** Package files lie beside the set until it is written. */
async function needRoom({ manager }: BackupTools, names: readonly string[], folder: string) {
  const sizes = new Map<string, number>();
  for await (const { name, downloadBytes } of manager.listing.read(names)) {
    sizes.set(name, Math.max(sizes.get(name) ?? 0, downloadBytes));
  }
  const bytes = 2 * [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const room = (await freeBytesOf(folder)) - RESERVE_BYTES;
  if (bytes <= room) return;
  throw new DepotError(
    'no_space',
    `cannot write the backup: its packages take ${sizeText(bytes)} for a while, and there is ` +
      `room for ${sizeText(Math.max(0, room))}`,
  );
}

/** Package files as their authors made them; what is not what the feed's list says is left out. */
async function fetchedPackages({ manager }: BackupTools, folder: string, context: StepContext) {
  const found: PackageFile[] = [];
  const { names } = place.read(context);
  const sums = new Map<string, string>();
  for await (const { name, version, sha256 = '' } of manager.listing.read(names)) {
    sums.set(`${name} ${version} ${sha256}`, sha256);
  }
  for (const file of (await readdir(folder)).sort()) {
    if (!file.endsWith(`.${manager.files.ending}`)) continue;
    const path = join(folder, file);
    try {
      const { name, version } = await manager.files.inspect(path, Infinity);
      const measured = await measure(path);
      const isListed = [...sums].some(
        ([key, sha256]) =>
          key.startsWith(`${name} ${version} `) && (sha256 === '' || sha256 === measured?.sha256),
      );
      if (measured === undefined || !isListed || !isPackageName(name)) {
        await context.note(`${file} is left out: it is not what the list of its feed says`);
        continue;
      }
      found.push({ name, version, file, bytes: measured.bytes, sha256: measured.sha256 });
    } catch (error) {
      await context.note(`${file} is left out: ${reasonOf(error)}`);
    }
  }
  const missing = names.filter((name) => found.every((each) => each.name !== name));
  if (missing.length > 0) await context.note(`without the files of ${missing.join(', ')}`);
  return found;
}
