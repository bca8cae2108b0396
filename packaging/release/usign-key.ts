import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type KeyObject,
} from 'node:crypto';

/** A key of usign's (src/device/usign.ts says what its files hold), which opkg's feeds ask for. */
export interface SecretUsignKey {
  /** Sixteen hexadecimal digits. */
  id: string;
  publicText: string;
  /** @returns the text of a signature's file */
  sign: (message: Buffer) => string;
}

const ALGORITHM = Buffer.from('Ed');
/** The way in which it would be encrypted: not at all. */
const NOT_ENCRYPTED = Buffer.from('BK\0\0\0\0');
const SALT_BYTES = 16;
const CHECKSUM_BYTES = 8;
const ID_BYTES = 8;
const SEED_BYTES = 32;
/** What stands before a seed in a PrivateKeyInfo (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const HEAD_BYTES = ALGORITHM.length + NOT_ENCRYPTED.length + SALT_BYTES;

/** @returns the text of a file with the secret key, as `usign -G` writes it */
export function createUsignKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-SEED_BYTES);
  const key = Buffer.concat([seed, publicBytes(privateKey)]);
  const id = randomBytes(ID_BYTES);
  return textOf(`private key ${id.toString('hex')}`, [
    ALGORITHM,
    NOT_ENCRYPTED,
    randomBytes(SALT_BYTES),
    checksumOf(key),
    id,
    key,
  ]);
}

/** @throws Error if it is none, or damaged, or encrypted */
export function readUsignKey(text: string): SecretUsignKey {
  const bytes = Buffer.from(text.split('\n')[1] ?? '', 'base64');
  const checksum = bytes.subarray(HEAD_BYTES, HEAD_BYTES + CHECKSUM_BYTES);
  const id = bytes.subarray(HEAD_BYTES + CHECKSUM_BYTES, HEAD_BYTES + CHECKSUM_BYTES + ID_BYTES);
  const key = bytes.subarray(HEAD_BYTES + CHECKSUM_BYTES + ID_BYTES);
  const isWhole =
    key.length === 2 * SEED_BYTES &&
    bytes.subarray(0, 8).equals(Buffer.concat([ALGORITHM, NOT_ENCRYPTED])) &&
    checksum.equals(checksumOf(key));
  if (!isWhole) throw new Error('cannot sign for opkg: it is no unencrypted secret key of usign');
  const secret = createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, key.subarray(0, SEED_BYTES)]),
    format: 'der',
    type: 'pkcs8',
  });
  const name = id.toString('hex');
  return {
    id: name,
    publicText: textOf(`depotd's packages, public key ${name}`, [
      ALGORITHM,
      id,
      publicBytes(secret),
    ]),
    sign: (message) =>
      textOf(`signed by key ${name}`, [ALGORITHM, id, sign(null, message, secret)]),
  };
}

function publicBytes(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(-SEED_BYTES);
}

function checksumOf(key: Buffer): Buffer {
  return createHash('sha512').update(key).digest().subarray(0, CHECKSUM_BYTES);
}

function textOf(comment: string, fields: readonly Buffer[]): string {
  return `untrusted comment: ${comment}\n${Buffer.concat(fields).toString('base64')}\n`;
}
