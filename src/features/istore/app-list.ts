import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { allBytes } from '../../device/byte-reader.ts';
import { READ } from '../../device/owner-file.ts';
import { readTar } from '../../device/tar/tar-reader.ts';
import { isPackageName, type PackageName } from '../../package-management/names.ts';

/** Largest list of names that iStore writes; more is none. */
const MOST_BYTES = 64 * 1024;
const MOST_APPS = 500;
/** Unpacked, up to the list: packages may lie before it. */
const MOST_UNPACKED_BYTES = 1024 ** 3;
/** A small file may have millions of empty ones. */
const MOST_MEMBERS = 10_000;
/** The list in a light backup of iStore's, and in one that was written to a disk. */
const LIST = /^(?:\.?\/)?(?:etc\/istore|backup_istore_[0-9-]{1,40})\/app\.list$/;
const APP = /^app-meta-/;

/**
 * The apps that a backup of iStore's names. Nothing of it is unpacked: its packages were packed
 * anew from files that may have changed, and are not what their authors signed.
 * @returns their meta packages; undefined if the file is no such backup
 */
export async function readAppList(file: string): Promise<PackageName[] | undefined> {
  const handle = await open(file, READ);
  const unpacked = createGunzip();
  try {
    const packed = handle.createReadStream({ start: 0, autoClose: false });
    packed.on('error', (error) => unpacked.destroy(error));
    packed.pipe(unpacked);
    let [bytes, count] = [0, 0];
    for await (const { name, type, sizeBytes, content } of readTar(unpacked)) {
      bytes += sizeBytes;
      count += 1;
      if (bytes > MOST_UNPACKED_BYTES || count > MOST_MEMBERS) return undefined;
      if (type !== '0' || sizeBytes > MOST_BYTES || !LIST.test(name)) continue;
      return appsIn((await allBytes(content)).toString('latin1'));
    }
    return undefined;
  } catch {
    // No archive, or a damaged one.
    return undefined;
  } finally {
    unpacked.destroy();
    await handle.close();
  }
}

function appsIn(text: string): PackageName[] {
  const names = text.split('\n').filter((name) => APP.test(name));
  return [...new Set(names.filter(isPackageName))].slice(0, MOST_APPS);
}
