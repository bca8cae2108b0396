import { DepotError } from '../../../errors.ts';
import type { FleetSettings } from '../options.ts';
import type { Work } from './work.ts';

/**
 * Whether the owner allows the server all of it, by `fleet.allow` and `fleet.settings`. Checked
 * before anything is fetched, and again when the job begins.
 * @throws DepotError forbidden that names what is not allowed
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
    ['run', programs.length > 0],
    ['self_upgrade', selfUpgrade],
    ['settings', changed.length > 0],
  ];
  const missing = asked.find(([ability, isAsked]) => isAsked && !allow.includes(ability));
  if (missing !== undefined) {
    throw refused(`fleet.allow of this device does not have "${missing[0]}"`);
  }
  const setting = changed.find((name) => !settings.includes(name));
  if (setting !== undefined) {
    throw refused(`fleet.settings of this device does not have "${setting}"`);
  }
  const unsigned = files.find(({ signature }) => signature === undefined);
  if (keyFile !== '' && unsigned !== undefined) {
    throw refused(`${unsigned.label} has no signature, ${unsigned.label}.sig beside it`);
  }
}

function refused(why: string): DepotError {
  return new DepotError('forbidden', `cannot do the action: ${why}`);
}
