import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../../../device/command.ts';
import { freeBytesOf } from '../../../device/disk/space.ts';
import { sizeText } from '../../../format-bytes.ts';
import { failureError } from '../../failure.ts';
import type { Offer } from '../../manager.ts';
import type { ApkCommands } from '../changing/commands.ts';
import type { PlannedChange } from './simulation.ts';

/** The name that apk itself gives a package in its cache. */
const CACHE_NAME = '${name}-${version}.${hash:8}.apk';

/** What of a plan has to be fetched. */
export function downloadsOf(changes: readonly PlannedChange[], own?: string): PlannedChange[] {
  return changes.filter(({ action, name }) => action !== 'Purging' && name !== own);
}

/**
 * Fetches the packages of a plan into apk's cache and checks them against the index, before
 * anything is changed: without that apk installs what it can get, and leaves out what it cannot.
 * By a name alone it fetches the best version (apk 3.0.5 finds no `NAME=VERSION` here); another one
 * it finds together with all that it depends on.
 */
export function fetchCommand(
  { apk }: Pick<ApkCommands, 'apk'>,
  changes: readonly PlannedChange[],
  { cache, offers }: { cache: string; offers: ReadonlyMap<string, readonly Offer[]> },
): Command {
  const isBest = changes.every(({ name, to }) => offers.get(name)?.[0]?.version === to);
  const names = changes.map(({ name, to = '' }) => (isBest ? name : `${name}=${to}`));
  const options = ['--pkgname-spec', CACHE_NAME, '--output', cache];
  return apk('fetch', ...(isBest ? [] : ['--recursive']), ...options, '--', ...names);
}

/**
 * The files of the packages in the cache, by name; those that are not there are left out.
 */
export async function findDownloads(
  changes: readonly PlannedChange[],
  cache: string,
): Promise<Map<string, string>> {
  const files = await readdir(cache).catch(() => []);
  const found = new Map<string, string>();
  for (const { name, to = '' } of changes) {
    const file = files.find((candidate) => isCacheName(candidate, `${name}-${to}`));
    if (file !== undefined) found.set(name, join(cache, file));
  }
  return found;
}

function isCacheName(file: string, start: string): boolean {
  return file.startsWith(`${start}.`) && /^[0-9a-f]{8}\.apk$/.test(file.slice(start.length + 1));
}

/** Bytes free in the file system of a folder, or of the nearest one above that is there. */
export async function freeBytesAt(folder: string): Promise<number> {
  return freeBytesOf(folder).catch(() => freeBytesOf(join(folder, '..')));
}

/** apk's record grows with what it installs, and is written anew beside itself. */
export const RESERVE_BYTES = 1024 ** 2;

interface Need {
  /** Of what is installed. */
  disk: number;
  /** Of what is fetched to the same disk, and lies there until it is installed. */
  fetched?: number;
  free: number;
}

/** @throws DepotError no_space with what is needed and what is there */
export function needBytes(purpose: string, { disk, fetched = 0, free }: Need): void {
  const needed = disk + fetched;
  if (needed + RESERVE_BYTES <= free) return;
  throw failureError(purpose, { code: 'no_space', reason: shortageOf({ disk, fetched, free }) });
}

function shortageOf({ disk, fetched, free }: Required<Need>): string {
  const [needed, part] = [sizeText(disk + fetched), sizeText(fetched)];
  const [spare, there] = [sizeText(RESERVE_BYTES), sizeText(free)];
  if (disk + fetched === 0) return `${there} are free for packages, ${spare} are needed at least`;
  if (fetched === 0) {
    return `it needs ${needed} and ${spare} to spare on the device, ${there} are free`;
  }
  return (
    `it needs ${needed}, ${part} of it to fetch it to, and ${spare} to spare on the device, ` +
    `${there} are free`
  );
}
