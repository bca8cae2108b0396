import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { DepotError, reasonOf, systemCode } from '../../../errors.ts';
import { remedyOf } from '../../problem.ts';
import type { Locations } from './apk-locations.ts';

/** More is no record of apk's: ten thousand packages with their files take a tenth of it. */
const MOST_BYTES = 256 * 1024 ** 2;

/**
 * Opens a record of apk's. What stands under its name may be anything: a fifo is not waited for
 * (open(2), O_NONBLOCK), and a device without an end is not read.
 * @returns the file, to be closed by the caller
 * @throws DepotError unavailable that names it
 */
export async function openRecord(file: string, mostBytes = MOST_BYTES): Promise<FileHandle> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      if (systemCode(error) === 'ENOENT') throw unreadable(file, 'it is gone');
      // The daemon may lack what it takes, such as descriptors.
      throw new DepotError('unavailable', `cannot read ${file}: ${reasonOf(error)}`);
    },
  );
  try {
    const entry = await handle.stat();
    if (!entry.isFile()) throw unreadable(file, 'it is no file');
    if (entry.size > mostBytes) throw unreadable(file, `it is larger than ${mostBytes} bytes`);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The whole text of a file of apk's record. @throws DepotError unavailable that names it */
export async function readRecord(file: string, mostBytes: number): Promise<string> {
  await using handle = await openRecord(file, mostBytes);
  return await handle.readFile('utf8');
}

/** Piece by piece. @throws DepotError unavailable that names it */
export async function* streamRecord(file: string): AsyncGenerator<Buffer> {
  const handle = await openRecord(file);
  // The stream closes the file, also if nobody reads it to its end.
  yield* handle.createReadStream() as AsyncIterable<Buffer>;
}

/** The archive of packages' scripts: apk takes the plain one if there is anything of that name. */
export async function scriptsFile({ scripts, plainScripts }: Locations): Promise<string> {
  return stat(plainScripts).then(
    () => plainScripts,
    (error: unknown) => (systemCode(error) === 'ENOENT' ? scripts : plainScripts),
  );
}

function unreadable(file: string, why: string): DepotError {
  return damagedRecord(`cannot read ${file}: ${why}`);
}

/** What any job that needs the record fails with, and any request is refused with. */
export function damagedRecord(message: string): DepotError {
  const explanation = { code: 'damaged_database', remedy: remedyOf('damaged_database') };
  return new DepotError('unavailable', message, { explanation });
}
