import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Offer } from '../../package-manager.ts';
import type { OpkgConfig } from '../config.ts';
import { compareVersions } from '../compare-versions.ts';
import { readParagraphs } from '../paragraphs.ts';
import { parseStanza } from '../stanza.ts';

/**
 * The versions that the package lists offer for some names, or for all, newest first. Lists are
 * read as a stream, gzip or plain, and only the paragraphs asked for are kept, since a list
 * unpacked can be larger than the daemon.
 */
export async function findOffers(
  config: OpkgConfig,
  names?: readonly string[],
): Promise<Map<string, Offer[]>> {
  const wanted = names === undefined ? undefined : new Set(names);
  const found = new Map<string, Offer[]>();
  for (const file of await listFiles(config)) {
    for await (const { name, version, architecture } of readList(file, wanted)) {
      if (config.architectures.size > 0 && !config.architectures.has(architecture)) continue;
      found.set(name, [...(found.get(name) ?? []), { name, version }]);
    }
  }
  for (const versions of found.values()) {
    versions.sort((a, b) => compareVersions(b.version, a.version));
  }
  return found;
}

/**
 * One for each configured feed, of the feed's name; those of a fetch under way are hidden. The list
 * of a feed that was taken out of the configuration by hand stays, and opkg reads it no more.
 */
export async function listFiles({
  listsDir,
  feeds,
}: Pick<OpkgConfig, 'listsDir' | 'feeds'>): Promise<string[]> {
  const configured = new Set(feeds.map(({ name }) => name));
  const names = await readdir(listsDir).catch(() => []);
  return names
    .filter((name) => configured.has(name) && !name.endsWith('.sig') && !name.startsWith('.'))
    .sort()
    .map((name) => join(listsDir, name));
}

interface ListEntry {
  name: string;
  version: string;
  architecture: string;
}

/** A list that cannot be read to its end gives what stands before the fault, as opkg does. */
async function* readList(
  file: string,
  wanted: ReadonlySet<string> | undefined,
): AsyncGenerator<ListEntry> {
  try {
    for await (const paragraph of readParagraphs(file, (name) => wanted?.has(name) !== false)) {
      const stanza = parseStanza(paragraph);
      yield {
        name: stanza.get('Package') ?? '',
        version: stanza.get('Version') ?? '',
        architecture: stanza.get('Architecture') ?? '',
      };
    }
  } catch {
    // The list is damaged: opkg, too, goes on with what it could read.
  }
}
