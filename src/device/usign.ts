import { createPublicKey, verify } from 'node:crypto';

/**
 * Of usign's files (https://git.openwrt.org/project/usign.git): a comment, then base64 of the
 * algorithm's two letters, eight bytes that name the key, and an Ed25519 key or signature (RFC
 * 8032).
 */
export interface UsignKey {
  /** Sixteen hexadecimal digits; the key's file in a folder of keys has this name. */
  id: string;
  bytes: Buffer;
}

const BYTES = { key: 32, signature: 64 };

/** A public key of usign's, or a signature; undefined for what is none. */
export function parseUsign(what: keyof typeof BYTES, text: string): UsignKey | undefined {
  const [comment = '', line = ''] = text.split(/\r?\n/);
  if (!comment.startsWith('untrusted comment:') || !/^[A-Za-z0-9+/]+={0,2}\s*$/.test(line)) {
    return undefined;
  }
  const bytes = Buffer.from(line, 'base64');
  const isOne = bytes.length === 10 + BYTES[what] && bytes.toString('latin1', 0, 2) === 'Ed';
  return isOne ? { id: bytes.toString('hex', 2, 10), bytes: bytes.subarray(10) } : undefined;
}

/** What stands before an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410, section 4). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether the signature names this key, and is its own over the message. */
export function isSignedBy(message: Uint8Array, signature: UsignKey, key: UsignKey): boolean {
  if (signature.id !== key.id) return false;
  const der = Buffer.concat([SPKI_HEAD, key.bytes]);
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, message, publicKey, signature.bytes);
}
