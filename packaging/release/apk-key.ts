import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto';
import { adbBlock, BLOCK, type AdbSchema } from './adb.ts';

/** A key that apk takes signatures of: prime256v1, in SEC1 where it is secret. */
export interface ApkKey {
  /** 32 hexadecimal digits. */
  id: string;
  publicPem: string;
  secret: KeyObject;
}

const ID_BYTES = 16;
/** The uncompressed point is the end of a SubjectPublicKeyInfo (RFC 5480). */
const POINT_BYTES = 65;
const SHA512 = 4;

/** @returns PEM, for `private-key.pem` */
export function createApkKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'sec1', format: 'pem' }).toString();
}

/** @throws Error if it is none, or for another curve */
export function readApkKey(pem: string): ApkKey {
  const secret = createPrivateKey(pem);
  const { namedCurve } = secret.asymmetricKeyDetails ?? {};
  if (namedCurve !== 'prime256v1') {
    throw new Error(`cannot sign for apk with a key of ${namedCurve ?? 'no curve'}`);
  }
  const publicKey = createPublicKey(secret);
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-POINT_BYTES);
  return {
    id: createHash('sha512')
      .update(point)
      .digest('hex')
      .slice(0, 2 * ID_BYTES),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    secret,
  };
}

/** Of 70 to 72 bytes three in a thousand are not, and then all that stands behind would move. */
const USUAL_BYTES = 70;

/** A block with the signature over the database block of a file. */
export function signAdb(schema: AdbSchema, database: Buffer, { id, secret }: ApkKey): Buffer {
  const head = Buffer.concat([Buffer.from([0, SHA512]), Buffer.from(id, 'hex')]);
  const signed = Buffer.concat([
    Buffer.from(schema, 'latin1'),
    head,
    createHash('sha512').update(database).digest(),
  ]);
  for (;;) {
    const signature = sign('sha512', signed, secret);
    if (signature.length >= USUAL_BYTES) {
      return adbBlock(BLOCK.signature, Buffer.concat([head, signature]));
    }
  }
}
