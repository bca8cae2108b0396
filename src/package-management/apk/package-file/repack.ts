import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { allBytes } from '../../../device/byte-reader.ts';
import { syncPath } from '../../../device/durable-file.ts';
import { readTar } from '../../../device/tar/tar-reader.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import { limitedGunzip } from '../../limited-gunzip.ts';
import { readPackageFile } from './apk-file.ts';
import { readFields, type RecordedFile } from '../database/installed-db.ts';
import { hasHash } from '../recovery/leftovers.ts';
import type { Locations } from '../database/apk-locations.ts';
import { scriptsFile, streamRecord } from '../database/record-file.ts';
import { tarFiles } from '../../../device/tar/tar-files.ts';
import { tarMember } from '../../../device/tar/tar-writer.ts';

/**
 * Packs an installed package back into a package file, from apk's own records, since the feed may
 * not have that version any more: in the older form, which needs no tool of the build system
 * (docs/reference/apk.md). Configuration goes in as it is: putting it back changes none.
 * @throws DepotError internal
 */
export async function packInstalled(options: {
  name: string;
  /** The file to make. */
  target: string;
  root: string;
  locations: Locations;
}): Promise<void> {
  const { name, target, root, locations } = options;
  const data = `${target}.data`;
  try {
    const { fields, files } = await readFields(locations.installed, name);
    const hasSha256 = first(fields, 'f').includes('S');
    const paths = await present(root, files, hasSha256);
    const { sum, sizeBytes } = await writeData(root, paths, data);
    const info = packageInfo(fields, sum, sizeBytes);
    const archive = await scriptsFile(locations);
    const scripts = await readScripts(archive, `${name}-${first(fields, 'V')}.`);
    const members = [{ name: '.PKGINFO', mode: 0o644, content: Buffer.from(info) }, ...scripts];
    const pieces = members.flatMap(({ content, ...entry }) => tarMember(entry, content));
    const control = gzipSync(Buffer.concat(pieces));
    await writeFile(`${target}.new`, control, { mode: 0o600 });
    await pipeline(createReadStream(data), createWriteStream(`${target}.new`, { flags: 'a' }));
    const packed = await readPackageFile(`${target}.new`, Number.MAX_SAFE_INTEGER);
    if (packed.name !== name) throw new Error('it came out as another package');
    await rename(`${target}.new`, target);
    await syncPath(dirname(target));
  } catch (error) {
    const message = `cannot keep ${name} as a file: ${reasonOf(error)}`;
    throw new DepotError('internal', message, { cause: error });
  } finally {
    await rm(data, { force: true });
    await rm(`${target}.new`, { force: true });
  }
}

type Fields = ReadonlyMap<string, string>;

function first(fields: Fields, letter: string): string {
  return fields.get(letter) ?? '';
}

/** The fields of the record, by the names that a package has for them. */
const NAMES = {
  P: 'pkgname',
  V: 'pkgver',
  T: 'pkgdesc',
  U: 'url',
  A: 'arch',
  L: 'license',
  o: 'origin',
  m: 'maintainer',
  k: 'provider_priority',
} as const;
const LISTS = { D: 'depend', p: 'provides', r: 'replaces' } as const;

function packageInfo(fields: Fields, sum: string, sizeBytes: number): string {
  const lines = [
    ...Object.entries(NAMES).flatMap(([letter, key]) =>
      fields.has(letter) ? [[key, first(fields, letter)]] : [],
    ),
    ...Object.entries(LISTS).flatMap(([letter, key]) =>
      first(fields, letter)
        .split(' ')
        .filter((word) => word !== '')
        .map((word) => [key, word]),
    ),
    // apk does nothing for a package of the same identity, and its files may be another's by then.
    ['builddate', `${Math.floor(Date.now() / 1000)}`],
    ['size', `${sizeBytes}`],
    ['datahash', sum],
  ];
  return lines.map((pair) => `${pair.join(' = ')}\n`).join('');
}

/**
 * What of the package is still there, without what its owner changed below /etc: with that in it,
 * the changed file would be the package's own, and the next upgrade would replace it.
 */
async function present(root: string, recorded: readonly RecordedFile[], hasSha256: boolean) {
  const files: string[] = [];
  for (const { path, hash } of recorded) {
    const file = join(root, path);
    const isChanged = path.startsWith('etc/') && !(await hasHash(file, hash, { hasSha256 }));
    if (!isChanged && (await lstat(file).catch(() => undefined)) !== undefined) files.push(path);
  }
  return files;
}

/** @returns the SHA-256 of the archive as it is packed, and the bytes of the files in it */
async function writeData(root: string, paths: readonly string[], target: string) {
  let sizeBytes = 0;
  const onFile = (bytes: number): void => void (sizeBytes += bytes);
  const hash = createHash('sha256');
  await pipeline(
    tarFiles({ root, paths, longNames: 'pax', hasChecksums: true, onFile }),
    createGzip(),
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        hash.update(piece);
        yield piece;
      }
    },
    createWriteStream(target, { mode: 0o600 }),
  );
  return { sum: hash.digest('hex'), sizeBytes };
}

/** `NAME-VERSION.X<hash>.KIND` in the archive of all packages' scripts; `start`: up to the `X`. */
async function readScripts(file: string, start: string) {
  const scripts: { name: string; mode: number; content: Buffer }[] = [];
  if ((await stat(file).catch(() => undefined)) === undefined) return scripts;
  const packed = streamRecord(file);
  const unpacked = file.endsWith('.gz') ? limitedGunzip(Infinity)(packed) : packed;
  for await (const member of readTar(unpacked)) {
    const [, kind] = /^X[0-9a-f]+\.([a-z-]+)$/.exec(member.name.slice(start.length)) ?? [];
    if (!member.name.startsWith(start) || kind === undefined) continue;
    scripts.push({ name: `.${kind}`, mode: 0o755, content: await allBytes(member.content) });
  }
  return scripts;
}
