import { createPublicKey, verify } from 'node:crypto';

/**
 * usign's files: a comment line, and a line of base64: two letters for the algorithm, the eight
 * bytes that the key is known by, and an Ed25519 key (RFC 8032) or signature.
 */
export interface UsignKey {
  /** Sixteen hexadecimal digits; the key's file has this name. */
  id: string;
  bytes: Buffer;
}

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** undefined for what is no public key. */
export function parseUsignKey(text: string): UsignKey | undefined {
  return parse(text, KEY_BYTES);
}

/** undefined for what is no signature. */
export function parseUsignSignature(text: string): UsignKey | undefined {
  return parse(text, SIGNATURE_BYTES);
}

function parse(text: string, length: number): UsignKey | undefined {
  const [comment = '', line = ''] = text.split(/\r?\n/);
  if (!comment.startsWith('untrusted comment:') || !/^[A-Za-z0-9+/]+={0,2}\s*$/.test(line)) {
    return undefined;
  }
  const bytes = Buffer.from(line, 'base64');
  if (bytes.length !== 10 + length || bytes.toString('latin1', 0, 2) !== 'Ed') return undefined;
  return { id: bytes.toString('hex', 2, 10), bytes: bytes.subarray(10) };
}

/** What stands before an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410, section 4). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

export function isSignedBy(message: Buffer, signature: UsignKey, key: UsignKey): boolean {
  const der = Buffer.concat([SPKI_HEAD, key.bytes]);
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, message, publicKey, signature.bytes);
}
