import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** A key as usign makes them; its id is random, too. */
export interface UsignPair {
  readonly id: string;
  /** The text of the public key's file. */
  readonly publicKey: string;
  /** The text of a signature's file. */
  readonly sign: (message: Buffer) => Buffer;
}

export function createUsignPair(): UsignPair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const fingerprint = randomBytes(8);
  const id = fingerprint.toString('hex');
  const textOf = (comment: string, bytes: Buffer): string => {
    const line = Buffer.concat([Buffer.from('Ed'), fingerprint, bytes]).toString('base64');
    return `untrusted comment: ${comment}\n${line}\n`;
  };
  return {
    id,
    publicKey: textOf(`public key ${id}`, rawOf(publicKey)),
    sign: (message) => Buffer.from(textOf(`signed by key ${id}`, sign(null, message, privateKey))),
  };
}

/** The last 32 bytes of the SubjectPublicKeyInfo are the key. */
function rawOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' }).subarray(-32);
}
