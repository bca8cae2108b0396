import { isSignedBy, parseUsign } from '../../../device/usign.ts';
import { DepotError } from '../../../errors.ts';
import { sizeText } from '../../../format-bytes.ts';
import { readNamed, unusable } from '../ddi/ddi-credentials.ts';
import type { Chunk } from '../ddi/ddi-schemas.ts';
import { fleetFailure } from '../failures.ts';
import type { FleetSettings } from '../options.ts';
import { PLAN_KEY, PLAN_SIGNATURE_KEY, shown } from './read-work.ts';
import type { Work } from './work.ts';

/** A signature is checked over the whole file in memory (ed25519, RFC 8032). */
const MOST_SIGNED_BYTES = 64 * 1024 ** 2;
/** A signature of usign has two lines. */
export const MOST_SIGNATURE_BYTES = 4096;

/**
 * Whether the owner allows the server all of it, by `fleet.allow` and `fleet.settings`. Checked
 * before anything is fetched, and again when the job begins.
 * @throws DepotError forbidden that names what is not allowed, too_large
 */
export function checkAllowed(
  work: Work,
  { allow, settings, key_file: keyFile }: Pick<FleetSettings, 'allow' | 'settings' | 'key_file'>,
): void {
  const { files, install, upgrade, remove, selfUpgrade } = work;
  const packages = files.filter(({ kind }) => kind === 'package');
  const programs = files.filter(({ kind }) => kind === 'program');
  const changed = Object.keys(work.settings);
  const asked: [ability: string, isAsked: boolean][] = [
    ['install', packages.length + install.length > 0],
    ['upgrade', upgrade.length > 0],
    ['remove', remove.length > 0],
    ['run', programs.length > 0 || work.verify.some(({ command }) => command !== undefined)],
    ['self_upgrade', selfUpgrade],
    ['settings', changed.length > 0],
    ['firmware', work.firmware !== undefined],
    ['collect', work.collect.length > 0],
    ['reboot', work.reboot],
    ['token', work.token !== undefined],
  ];
  const missing = asked.find(([ability, isAsked]) => isAsked && !allow.includes(ability));
  if (missing !== undefined) {
    throw refused(`fleet.allow of this device does not have "${missing[0]}"`);
  }
  const setting = changed.find(
    (name) => !settings.includes(name) && !settings.includes(sectionOf(name)),
  );
  if (setting !== undefined) {
    throw refused(`fleet.settings of this device does not have "${setting}"`);
  }
  if (keyFile !== '') checkSigned(work);
}

function checkSigned({ files, signatures }: Work): void {
  const unsigned = files.find(({ signature }) => signature === undefined);
  if (unsigned !== undefined) {
    throw refused(`${unsigned.label} has no signature, ${unsigned.label}.sig beside it`);
  }
  for (const [most, list] of [
    [MOST_SIGNED_BYTES, files],
    [MOST_SIGNATURE_BYTES, signatures],
  ] as const) {
    const large = list.find(({ bytes }) => bytes > most);
    if (large === undefined) continue;
    throw new DepotError(
      'too_large',
      `cannot do the action: ${large.label} has ${sizeText(large.bytes)}, and ` +
        `${sizeText(most)} are the limit with fleet.key_file`,
    );
  }
}

/** Who may change a section may make and remove it, and change all that is in it. */
function sectionOf(name: string): string {
  return name.split('.').slice(0, 2).join('.');
}

function refused(why: string): DepotError {
  return new DepotError('forbidden', `cannot do the action: ${why}`);
}

/** Whether the text is a signature over these bytes, by the owner's key. */
type Verifier = (content: Uint8Array, signatureFile: string) => boolean;

/** A public key of usign's, the owner's. @throws DepotError unavailable if the file holds none */
export async function readVerificationKey(path: string): Promise<Verifier> {
  const key = parseUsign('key', (await readNamed('key_file', path)).trim());
  if (key === undefined) throw unusable('key_file', 'it holds no public key of usign');
  return (content, signatureFile) => {
    const signature = parseUsign('signature', signatureFile.trim());
    return signature !== undefined && isSignedBy(content, signature, key);
  };
}

/** Each plan is signed as it stands, in metadata of its own. @throws DepotError forbidden */
export function checkPlanSignatures(chunks: readonly Chunk[], isSigned: Verifier): void {
  for (const { name, metadata } of chunks) {
    const valueOf = (wanted: string): string | undefined =>
      metadata.find(({ key: found }) => found === wanted)?.value;
    // Two plans in one module share a signature, so that only one could be signed.
    const plans = metadata.filter(({ key: found }) => found === PLAN_KEY);
    const signature = valueOf(PLAN_SIGNATURE_KEY) ?? '';
    const isGood = plans.every(({ value }) => isSigned(Buffer.from(value), signature));
    if (!isGood) {
      throw fleetFailure(
        'forbidden',
        'signature',
        `cannot do the action: ${PLAN_KEY} of ${shown(name)} is not signed with fleet.key_file`,
      );
    }
  }
}
