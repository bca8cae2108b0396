import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../../../device/command.ts';
import type { Offer } from '../../manager.ts';
import type { ApkCommands } from '../changing/commands.ts';
import type { PlannedChange } from './simulation.ts';

/** The name that apk itself gives a package in its cache. */
const CACHE_NAME = '${name}-${version}.${hash:8}.apk';

/** What of a plan has to be fetched: not what goes, nor the package of a file that is installed. */
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

/** The files of the packages in the cache, by name; those that are not there are left out. */
export async function findDownloads(changes: readonly PlannedChange[], cache: string) {
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
