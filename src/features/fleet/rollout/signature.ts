import { readFile } from 'node:fs/promises';
import { isSignedBy, parseUsignKey, parseUsignSignature } from '../../../device/usign.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import { remedyOf } from '../../../package-management/problem.ts';
import type { Chunk } from '../ddi/schemas.ts';
import { PLAN_KEY, PLAN_SIGNATURE_KEY, shown } from './read-work.ts';

/** A public key of usign's, by which the owner signs what a device does. */
export interface VerificationKey {
  /** Whether the text is a signature over these bytes, by this key. */
  isSigned: (content: Uint8Array, signature: string) => boolean;
}

/** @throws DepotError unavailable if the file holds no such key */
export async function readVerificationKey(path: string): Promise<VerificationKey> {
  const unusable = (why: string): DepotError =>
    new DepotError('unavailable', `cannot use fleet.key_file: ${why}`);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unusable(reasonOf(error));
  });
  const key = parseUsignKey(text.trim());
  if (key === undefined) throw unusable('it holds no public key of usign');
  return {
    isSigned: (content, signatureFile) => {
      const signature = parseUsignSignature(signatureFile.trim());
      return signature !== undefined && isSignedBy(content, signature, key);
    },
  };
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
