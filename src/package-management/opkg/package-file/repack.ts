import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { DepotError, reasonOf } from '../../../errors.ts';
import { syncPath } from '../../../device/durable-file.ts';
import { hasEntry } from '../../../device/is-there.ts';
import { tarFiles } from '../../../device/tar/tar-files.ts';
import { END_OF_TAR, tarHeader, tarMember, tarPadding } from '../../../device/tar/tar-writer.ts';
import { isInfoOf, readListedFiles } from '../database/info-folder.ts';
import type { Installation } from '../installation.ts';
import { inspectIpk } from './ipk-file.ts';

interface PackOptions extends Pick<Installation, 'infoDir' | 'destination'> {
  name: string;
  /** The file to make. */
  target: string;
}

const MOST_BYTES = 1024 ** 3;

/**
 * Packs an installed package back into a package file, from opkg's own records, since the feed may
 * not have that version any more. Conffiles go in as they are: putting it back changes none.
 * @throws DepotError internal
 */
export async function packInstalled(options: PackOptions): Promise<void> {
  const { name, destination: root, target } = options;
  const [data, whole] = [`${target}.data`, `${target}.new`];
  const write = (pieces: AsyncIterable<Buffer>, file: string): Promise<void> =>
    pipeline(pieces, createGzip(), createWriteStream(file, { mode: 0o600 }));
  try {
    const paths = (await filesOf(options)).map((path) => `.${path}`);
    await write(tarFiles({ root, paths, longNames: 'gnu', hasChecksums: false }), data);
    await write(membersOf(await controlOf(options), data), whole);
    await inspectIpk(whole, MOST_BYTES);
    await rename(whole, target);
    await syncPath(dirname(target));
  } catch (error) {
    const message = `cannot keep ${name} as a file: ${reasonOf(error)}`;
    throw new DepotError('internal', message, { cause: error });
  } finally {
    await rm(data, { force: true });
    await rm(whole, { force: true });
  }
}

async function* membersOf(control: Buffer, data: string): AsyncGenerator<Buffer> {
  yield* tarMember({ name: './debian-binary', mode: 0o644 }, Buffer.from('2.0\n'));
  yield* tarMember({ name: './control.tar.gz', mode: 0o644 }, control);
  const { size: sizeBytes } = await stat(data);
  yield* tarHeader({ name: './data.tar.gz', mode: 0o644, sizeBytes });
  yield* createReadStream(data) as AsyncIterable<Buffer>;
  yield tarPadding(sizeBytes);
  yield END_OF_TAR;
}

/** What opkg keeps of the package beside its list of files: control, conffiles and scripts. */
async function controlOf({ name, infoDir }: PackOptions): Promise<Buffer> {
  const files = (await readdir(infoDir)).filter(
    (file) => isInfoOf(file, name) && file !== `${name}.list`,
  );
  const members = await Promise.all(
    files.map(async (file) => {
      const path = join(infoDir, file);
      const [content, { mode }] = await Promise.all([readFile(path), stat(path)]);
      return tarMember({ name: `./${file.slice(name.length + 1)}`, mode: mode & 0o7777 }, content);
    }),
  );
  return gzipSync(Buffer.concat([...members.flat(), END_OF_TAR]));
}

/** What of the package is still there; a conffile may have been removed by its owner. */
async function filesOf({ name, infoDir, destination }: PackOptions): Promise<string[]> {
  const paths = (await readListedFiles(infoDir, name)).filter((path) => path.startsWith('/'));
  const isThere = await Promise.all(paths.map((path) => hasEntry(join(destination, path))));
  return paths.filter((_, index) => isThere[index]);
}
