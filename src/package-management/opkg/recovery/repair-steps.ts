import { createHash } from 'node:crypto';
import { lstat, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { plainAct, plainCommand, type Step, type StepContext } from '../../../jobs/plan.ts';
import { readPart } from '../../../device/owner-file.ts';
import { isPresent, type PackageDatabase } from '../../database.ts';
import { lasting, transactionSlots } from '../../transaction-slots.ts';
import type { OpkgCommands } from '../changing/commands.ts';
import { waitForOpkg } from '../changing/lock.ts';
import type { Installation } from '../installation.ts';
import { listsSteps, type ListsTools } from '../feeds/missing-lists.ts';
import {
  writtenAfter,
  listedFiles,
  readControl,
  wasWrittenAfter,
} from '../database/info-folder.ts';
import { LARGEST_EMPTY_BYTES } from '../changing/content-check.ts';
import { readConffiles } from '../database/status-file.ts';
import { lowerVersions, restoreVersions, type Damaged } from './damaged.ts';
import { unlisted, unlistedSteps } from './unlisted.ts';

export interface DamageTools extends ListsTools {
  commands: OpkgCommands;
  damaged: Damaged;
}

/**
 * Of a job that a power cut broke off, in its repair: the packages that it was at work on are
 * looked at, and those whose files were emptied are installed again. What cannot be, without a
 * network, stays marked as damaged.
 */
export function damageSteps(
  installation: Installation,
  { damaged, ...tools }: DamageTools,
): Step[] {
  const { commands } = tools;
  return [
    plainAct('look-for-damage', 'look for damage', async (context) => {
      const { job, note } = context;
      if (!isDoubtful(context)) return undefined;
      const since = job.startedAt ?? job.createdAt;
      const database = await installation.read();
      const inDoubt = (await writtenAfter(installation.infoDir, since)).filter((name) =>
        isPresent(database.get(name)),
      );
      const emptied = await findEmptied(installation, inDoubt, since);
      const rest = inDoubt.filter((name) => !emptied.includes(name));
      const others = await findOtherVersions(installation, rest, database);
      if (others.length > 0) {
        await damaged.add(others);
        await note(`${others.join(', ')} has the files of another version than its record`);
      }
      if (emptied.length === 0) return undefined;
      await damaged.add(emptied);
      inRepair.write(context, { emptied: [...others, ...emptied] });
      await note(`the power cut damaged files of ${emptied.join(', ')}: installed again`);
    }),
    ...listsSteps(installation, tools, (context) => {
      return [...inRepair.read(context).emptied, ...unlisted.read(context).unlisted].length > 0;
    }),
    ...unlistedSteps(installation, commands.opkg),
    plainAct('prepare-reinstall', 'prepare reinstall', async (context) => {
      const { emptied: names } = inRepair.read(context);
      if (names.length === 0) return undefined;
      await installation.prepareFolders();
      await waitForOpkg(installation, context);
      const { startedAt, createdAt } = context.job;
      await removeEmptiedSettings(installation, names, startedAt ?? createdAt);
      await lowerVersions(installation.statusFile, context, names);
    }),
    plainCommand('reinstall', 'reinstall', (context) => {
      const { emptied: names } = inRepair.read(context);
      return names.length === 0 ? undefined : commands.upgrade(names);
    }),
    plainAct('judge-reinstall', 'check: reinstall', async (context) => {
      const { note } = context;
      const { emptied: names } = inRepair.read(context);
      if (names.length === 0) return undefined;
      await restoreVersions(installation.statusFile, context);
      const database = await installation.read();
      await damaged.update(database);
      const left = damaged.among(names);
      if (left.length === 0) return undefined;
      const lost = left.join(', ');
      await note(`${lost} could not be installed again, and is damaged: install it again`);
    }),
  ];
}

function isDoubtful(context: StepContext): boolean {
  const { verdict, isRepairCut = false } = context.job;
  const isUnwritten = lasting.read(context).isWritten === false;
  return isRepairCut || (isUnwritten && verdict?.state === 'interrupted');
}

const inRepair = transactionSlots('the damage', { emptied: v.optional(v.array(v.string()), []) });

type Locations = Pick<Installation, 'infoDir' | 'destination' | 'statusFile'>;

/** What a file system writes at once. */
const BLOCK_BYTES = 4096;

/**
 * Of these packages those with a file that a power cut emptied: file systems write names and sizes
 * before contents, so that it has no length, or begins with zeros, or is not there. Only what
 * changed after `since` (Unix seconds) is looked at: an empty file that was there before is meant.
 */
export async function findEmptied(
  locations: Locations,
  names: readonly string[],
  since: number,
): Promise<string[]> {
  const conffiles = await readConffiles(locations.statusFile);
  const hashes = new Map(conffiles.map(({ path, hash }) => [path, hash]));
  const found = [];
  for (const name of names) {
    if (await isEmptied({ ...locations, hashes }, name, since)) found.push(name);
  }
  return found;
}

/**
 * Removes configuration files of these packages that a power cut emptied after `since`: opkg would
 * take one for its owner's, keep it, and lay that of the package beside it.
 */
async function removeEmptiedSettings(
  locations: Locations,
  names: readonly string[],
  since: number,
): Promise<void> {
  for (const { owner, path, hash } of await readConffiles(locations.statusFile)) {
    const file = join(locations.destination, path);
    if (names.includes(owner) && (await isLost(file, hash, since))) await rm(file);
  }
}

/** Packages whose record was put back and whose files are of another version. */
export async function findOtherVersions(
  { infoDir }: Pick<Locations, 'infoDir'>,
  names: readonly string[],
  database: PackageDatabase,
): Promise<string[]> {
  const found = [];
  for (const name of names) {
    const version = (await readControl(infoDir, name)).get('Version');
    if (version !== undefined && version !== database.get(name)?.version) found.push(name);
  }
  return found;
}

async function isEmptied(
  { infoDir, destination, hashes }: Locations & { hashes: ReadonlyMap<string, string> },
  name: string,
  since: number,
): Promise<boolean> {
  const control = await readControl(infoDir, name);
  if (!control.has('Package')) return true;
  const files = await listedFiles(infoDir, name);
  if (files.length === 0) return Number(control.get('Installed-Size') ?? 0) > LARGEST_EMPTY_BYTES;
  if (files.some((file) => !file.startsWith('/') || file.includes('\0'))) return true;
  for (const file of files) {
    const path = join(destination, file);
    const hash = hashes.get(file);
    if (hash === undefined ? await isHollow(path, since) : await isLost(path, hash, since)) {
      return true;
    }
  }
  return false;
}

async function isHollow(path: string, since: number): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry === undefined) return true;
  return entry.isFile() && (await wasWrittenAfter(path, since)) && hasNoContent(path);
}

/** A file's owner may have removed or changed it; an empty one may be as it came. */
async function isLost(path: string, hash: string, since: number): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry?.isFile() !== true || !(await wasWrittenAfter(path, since))) return false;
  if (!(await hasNoContent(path))) return false;
  const content = await readFile(path);
  const name = hash.length === 64 ? 'sha256' : 'md5';
  return createHash(name).update(content).digest('hex') !== hash;
}

async function hasNoContent(path: string): Promise<boolean> {
  const head = await readPart(path, BLOCK_BYTES).catch(() => Buffer.alloc(0));
  return head.every((byte) => byte === 0);
}
