import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { DepotError, reasonOf } from '../../../errors.ts';
import { remedyOf } from '../../packages/problem.ts';
import type { Chunk } from '../ddi/schemas.ts';
import { PLAN_KEY, PLAN_SIGNATURE_KEY, shown } from './read-work.ts';

/**
 * usign's files (https://git.openwrt.org/project/usign.git): a line of comment, then in base64
 * `Ed`, 8 bytes that number the key, and 32 bytes of an ed25519 key or 64 of a signature (RFC
 * 8032).
 */
export interface VerificationKey {
  /** Whether the signature is one over these bytes, by this key. */
  isSigned: (content: Uint8Array, signature: string) => boolean;
}

const HEAD_BYTES = 10;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** Of a SubjectPublicKeyInfo of an ed25519 key, which the key itself follows (RFC 8410). */
const KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** @throws DepotError unavailable if the file holds no such key */
export async function readVerificationKey(path: string): Promise<VerificationKey> {
  const unusable = (why: string): DepotError =>
    new DepotError('unavailable', `cannot use fleet.key_file: ${why}`);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unusable(reasonOf(error));
  });
  const found = decode(text, KEY_BYTES);
  if (found === undefined) throw unusable('it holds no public key of usign');
  const key = createPublicKey({
    key: Buffer.concat([KEY_PREFIX, found.content]),
    format: 'der',
    type: 'spki',
  });
  return {
    isSigned: (content, signature) => isSignedBy(key, found.number, { content, signature }),
  };
}

function isSignedBy(
  key: KeyObject,
  number: Buffer,
  { content, signature }: { content: Uint8Array; signature: string },
): boolean {
  const found = decode(signature, SIGNATURE_BYTES);
  if (found?.number.equals(number) !== true) return false;
  return verify(null, content, key, found.content);
}

function decode(text: string, bytes: number): { number: Buffer; content: Buffer } | undefined {
  const line = text.trim().split(/\r?\n/).at(-1) ?? '';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(line)) return undefined;
  const raw = Buffer.from(line, 'base64');
  if (raw.length !== HEAD_BYTES + bytes || raw.toString('latin1', 0, 2) !== 'Ed') return undefined;
  return { number: raw.subarray(2, HEAD_BYTES), content: raw.subarray(HEAD_BYTES) };
}

/**
 * Each plan is signed as it stands, in metadata of its own.
 * @throws DepotError forbidden
 */
export function checkPlanSignatures(chunks: readonly Chunk[], key: VerificationKey): void {
  for (const { name, metadata } of chunks) {
    const valueOf = (wanted: string): string | undefined =>
      metadata.find(({ key: found }) => found === wanted)?.value;
    // Of two plans in one module only one could be signed.
    const plans = metadata.filter(({ key: found }) => found === PLAN_KEY);
    const signature = valueOf(PLAN_SIGNATURE_KEY) ?? '';
    const isGood = plans.every(({ value }) => key.isSigned(Buffer.from(value), signature));
    if (!isGood) {
      throw new DepotError(
        'forbidden',
        `cannot do the action: ${PLAN_KEY} of ${shown(name)} is not signed with fleet.key_file`,
        { explanation: { code: 'signature', remedy: remedyOf('signature') } },
      );
    }
  }
}
