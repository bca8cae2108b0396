import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as v from 'valibot';
import { run } from '../../../device/exec.ts';
import { DepotError } from '../../../errors.ts';
import type { BackendContext } from '../package-manager.ts';
import {
  LISTING_LIMITS,
  pathsIn,
  type OfferedPackage,
  type PackageDescription,
  type PackageListing,
  type PackageRecord,
} from '../listing.ts';
import { isPackageName } from '../names.ts';
import { describeOffer, describeRecord, FIELDS, queriedPackage } from './describe.ts';
import { readFeeds } from './feeds.ts';
import type { Installation } from './installation.ts';
import { createObjectCutter } from './json-objects.ts';
import { indexVersion, lastLine, readArchitectures } from './offers.ts';
import { readFields, readInstalled } from './records/installed-db.ts';

interface ListingOptions {
  paths: BackendContext['paths'];
  installation: Pick<Installation, 'locations' | 'commands' | 'reader'>;
}

/**
 * What the feeds' indexes offer, which apk alone can read, and what apk's record has of each
 * package, read without apk.
 */
export function createListing(options: ListingOptions): PackageListing {
  const { paths, installation } = options;
  const { locations } = installation;
  return {
    version: () => indexVersion(paths, locations),
    read: async function* (names) {
      const accepted = new Set([...(await readArchitectures(paths)), 'noarch']);
      const { feeds } = await readFeeds(locations.feeds);
      const nameByUrl = new Map(feeds.map(({ url, name }) => [url, name]));
      const wanted = names?.filter(isPackageName) ?? ['*'];
      if (wanted.length === 0) return;
      for await (const text of query(options, wanted)) {
        const found = parseQueried(text);
        if (found === undefined || !isPackageName(found.name)) continue;
        if (accepted.size > 1 && !accepted.has(found.arch)) continue;
        yield* offersOf(found, nameByUrl);
      }
    },
    readInstalled: async function* (names) {
      const wanted = new Set(names);
      const found: PackageDescription[] = [];
      await readInstalled(locations.installed, {
        onFields: (fields) => {
          if (wanted.has(fields.get('P') ?? '')) found.push(describeRecord(fields));
        },
      });
      yield* found;
    },
    record: (name) => readRecord(options, name),
  };
}

/** Several feeds may offer the same build. */
function* offersOf(
  found: v.InferOutput<typeof queriedPackage>,
  nameByUrl: ReadonlyMap<string, string>,
): Generator<OfferedPackage> {
  for (const url of found.repositories) {
    yield describeOffer(found, nameByUrl.get(url) ?? url.slice(0, LISTING_LIMITS.lineCharacters));
  }
}

const LIMITS = { timeoutMs: 60_000, maxBytes: 2 * LISTING_LIMITS.listBytes };

/** The texts of the JSON objects that apk prints, one for each package. */
async function* query(
  { installation: { commands } }: ListingOptions,
  names: readonly string[],
): AsyncGenerator<string> {
  const cut = createObjectCutter(LISTING_LIMITS.paragraphBytes);
  const command = commands.apk(
    'query',
    ...['--format', 'json', '--from', 'repositories', '--all-matches', '--fields', FIELDS],
    '--',
    ...names,
  );
  const texts = new Readable({ objectMode: true, read: () => undefined });
  const stopping = new AbortController();
  const running = run(command, {
    ...LIMITS,
    signal: stopping.signal,
    onStdout: (piece) => cut(piece).forEach((text) => texts.push(text)),
  });
  void running.then(
    () => texts.push(null),
    (error: unknown) => texts.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  let count = 0;
  try {
    for await (const text of texts as AsyncIterable<string>) {
      count += 1;
      yield text;
    }
  } finally {
    stopping.abort();
  }
  const { exitCode, stderr } = await running;
  if (exitCode !== 0 && count === 0) {
    const reason = lastLine(stderr) ?? `exit code ${exitCode ?? 'none'}`;
    throw new DepotError('unavailable', `cannot read what the feeds offer: ${reason}`);
  }
}

/** What is no description of a package is passed over, as a damaged one in a list of opkg is. */
function parseQueried(text: string): v.InferOutput<typeof queriedPackage> | undefined {
  try {
    const result = v.safeParse(queriedPackage, JSON.parse(text));
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}

async function readRecord(
  { installation: { locations, reader } }: ListingOptions,
  name: string,
): Promise<PackageRecord | undefined> {
  if (!isPackageName(name) || !(await reader.records()).has(name)) return undefined;
  const { files } = await readFields(locations.installed, name);
  const list = join(locations.packages, name);
  return {
    files: pathsIn(files.map(({ path }) => `/${path}`).join('\n')),
    config: pathsIn(await readHead(`${list}.conffiles`)),
    installedAt: await changedAt(`${list}.list`),
  };
}

const MOST_CONFFILES_BYTES = 64 * 1024;

async function readHead(file: string): Promise<string> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MOST_CONFFILES_BYTES));
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    // A folder of that name, or a disk that fails: nothing is known then.
    return '';
  } finally {
    await handle.close();
  }
}

/** apk records no time of installation: the list's inode changed when it was put there. */
async function changedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ ctimeMs }) => Math.floor(ctimeMs / 1000),
    () => 0,
  );
}
