import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, gunzipSync, inflateRawSync } from 'node:zlib';
import { readSmallFile } from '../../../device/owner-file.ts';
import { orElse } from '../../../errors.ts';

/** How much of an index is read: enough to find its signature. */
export const HEAD_BYTES = 64 * 1024;

/**
 * The key that signed an index, by the beginning of its file: of the third format (`packages.adb`)
 * the hexadecimal id, of the second (`APKINDEX.tar.gz`) the key's file name. undefined if it is not
 * signed.
 */
export function signerOf(head: Buffer): string | undefined {
  const read = head.toString('latin1', 0, 3) === 'ADB' ? signerOfThird : signerOfSecond;
  // It may be too damaged to name a key; what is wrong with it apk says.
  return orElse(() => read(head), undefined);
}

/** The first member of the first archive is named for its key. */
function signerOfSecond(head: Buffer): string | undefined {
  const tar = gunzipSync(head, HEAD_LIMITS);
  return /^\.SIGN\.[A-Z0-9]+\.([^\0/]+)/.exec(tar.toString('latin1', 0, 100))?.[1];
}

/** The head is a part of its file; what unpacks to more is no index. */
const HEAD_LIMITS = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 16 * 1024 ** 2 };
/** The type of a block that is a signature. */
const SIGNATURE = 1;
const ID_BYTES = 16;

/**
 * adb(5): after eight bytes of a header blocks follow, each with its type in the two upper bits of
 * a word and its length in the others, the word included, filled up to eight bytes. A signature has
 * two bytes for its version and algorithm, and then the key's id.
 */
function signerOfThird(head: Buffer): string | undefined {
  const packed = head.toString('latin1', 3, 4);
  const from = packed === 'c' ? 6 : 4;
  const data = packed === '.' ? head : inflateRawSync(head.subarray(from), HEAD_LIMITS);
  for (let at = 8; at + 4 <= data.length;) {
    const word = data.readUInt32LE(at);
    const [type, length] = [word >>> 30, word & 0x3fffffff];
    if (length < 4) return undefined;
    if (type === SIGNATURE) return data.toString('hex', at + 6, at + 6 + ID_BYTES);
    at += Math.ceil(length / 8) * 8;
  }
  return undefined;
}

/** The files of a folder of keys, in their order; without a key those that hold none. */
export async function readKeyFiles(folder: string) {
  const names = (await readdir(folder).catch(() => [])).sort();
  return Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      return { file, key: parsePem((await readSmallFile(file, HEAD_BYTES)) ?? '') };
    }),
  );
}

/** A public key in PEM; undefined for what is none. */
export function parsePem(text: string): KeyObject | undefined {
  return /^-----BEGIN (?:RSA )?PUBLIC KEY-----/.test(text.trim())
    ? orElse(() => createPublicKey(text.trim()), undefined)
    : undefined;
}

/** As signatures of the third format name it: of the key's own bits, without what says its kind. */
export function idOfKey(key: KeyObject): string {
  const der = key.export({ type: 'spki', format: 'der' });
  const bits = key.asymmetricKeyType === 'ec' ? pointIn(key) : der;
  return createHash('sha512')
    .update(bits)
    .digest('hex')
    .slice(0, 2 * ID_BYTES);
}

/** An uncompressed point (SEC 1, section 2.3.3), as i2d_PublicKey(3) gives it. */
function pointIn(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return Buffer.concat([Buffer.of(4), ...[x, y].map((one) => Buffer.from(one, 'base64url'))]);
}
