import { copyFile, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { unlessShort } from '../../../device/shortage.ts';
import { systemCode } from '../../../errors.ts';
import { cutLine } from '../../listing.ts';
import type { Offer } from '../../manager.ts';
import type { OpkgConfig } from '../opkg-config.ts';
import { compareVersions } from '../compare-versions.ts';
import { parseStanza } from '../database/stanza.ts';
import { readParagraphs, readUpToFault } from './paragraphs.ts';

/**
 * The versions that the package lists offer for some names, newest first. Of a paragraph three
 * fields are read: a list may have 200,000 of one name.
 */
export async function findOffers(
  config: OpkgConfig,
  names: readonly string[],
): Promise<Map<string, Offer[]>> {
  const wanted = new Set(names);
  const isWanted = (name: string): boolean => wanted.has(name);
  const { architectures } = config;
  const found = new Map<string, Offer[]>();
  for (const file of await listFiles(config)) {
    for await (const paragraph of readParagraphs(readUpToFault(file), isWanted)) {
      const stanza = parseStanza(paragraph);
      const architecture = stanza.get('Architecture') ?? '';
      if (architectures.size > 0 && !architectures.has(architecture)) continue;
      const [name, version] = [detached(stanza.get('Package')), detached(stanza.get('Version'))];
      const versions = found.get(name) ?? [];
      versions.push({ name, version });
      found.set(name, versions);
      if (versions.length >= 2 * MOST_VERSIONS) keepBest(versions);
    }
  }
  found.forEach(keepBest);
  return found;
}

/** Most versions of one package: the best is what others ask for. */
const MOST_VERSIONS = 50;

function keepBest(versions: Offer[]): void {
  versions.sort((a, b) => compareVersions(b.version, a.version));
  versions.splice(MOST_VERSIONS);
}

/**
 * One for each configured feed, of the feed's name; those of a fetch under way are hidden. The list
 * of a feed that was taken out of the configuration by hand stays, and opkg reads it no more.
 */
export async function listFiles({ listsDir, feeds }: OpkgConfig): Promise<string[]> {
  const configured = new Set(feeds.map(({ name }) => name));
  const names = await readdir(listsDir).catch(unlessShort([]));
  return names
    .filter((name) => configured.has(name) && !name.endsWith('.sig') && !name.startsWith('.'))
    .sort()
    .map((name) => join(listsDir, name));
}

/** A text by itself: a part of a larger one would keep the whole of it in memory. */
function detached(text = ''): string {
  return Buffer.from(cutLine(text)).toString();
}

/** Hidden until it is whole; with its time, which says when the list was fetched. */
export async function copyList(source: string, target: string): Promise<void> {
  const temporary = join(dirname(target), `.${basename(target)}.new`);
  try {
    await rm(temporary, { force: true });
    await copyFile(source, temporary);
    const { atime, mtime } = await stat(source);
    await utimes(temporary, atime, mtime);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A list was fetched now: GNU's wget gives a file the time that its server says. */
export async function markFetched(list: string): Promise<void> {
  const now = new Date();
  await utimes(list, now, now);
}

/** Copies the source, or removes the target if there is none: that belongs to another list. */
export async function copyOrRemove(source: string, target: string): Promise<void> {
  await copyList(source, target).catch(async (error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error;
    await rm(target, { force: true });
  });
}
