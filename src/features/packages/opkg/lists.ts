import { createReadStream } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Offer } from '../package-manager.ts';
import type { OpkgConfig } from './config.ts';
import { parseStanza } from './stanza.ts';
import { compareVersions } from './compare-versions.ts';

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
  for (const file of await listFiles(config.listsDir)) {
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

async function listFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => !name.endsWith('.sig')).map((name) => join(folder, name));
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

/**
 * Paragraphs of a list whose `Package` the caller wants.
 * @throws an Error if the file cannot be read or unpacked
 */
export async function* readParagraphs(
  file: string,
  isWanted: (name: string) => boolean,
): AsyncGenerator<string> {
  const isPacked = await isGzip(file);
  // Opened no sooner: an error that comes before somebody listens would end the daemon.
  const source = createReadStream(file);
  const stream = isPacked ? pipeline(source, createGunzip(), () => undefined) : source;
  stream.setEncoding('utf8');
  let text = '';
  for await (const chunk of stream as AsyncIterable<string>) {
    const paragraphs = (text + chunk).split(/\n(?:[ \t\r]*\n)+/);
    text = paragraphs.pop() ?? '';
    yield* paragraphs.filter((paragraph) => isWanted(nameIn(paragraph)));
  }
  if (isWanted(nameIn(text))) yield text;
}

function nameIn(paragraph: string): string {
  return /^Package:[ \t]*(\S+)/m.exec(paragraph)?.[1] ?? '';
}

/** RFC 1952: a gzip member starts with 1f 8b. */
async function isGzip(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}
