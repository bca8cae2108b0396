import type { Device } from '../device/device.ts';
import { versionOf } from './packages.ts';
import type { Outcome } from './scenarios.ts';
import { STORE_PROGRAM, type StoreBehaviour } from './store-package.ts';

/** What the owner of the device wrote into the package's configuration. */
export const OWN_CONFIGURATION = '# mine\n';

/** Either version is there as a whole, it is the one that the job names, and nothing is left over. */
export async function judgeSelfUpgrade(
  device: Device,
  { state }: Outcome,
  newer: StoreBehaviour,
): Promise<string[]> {
  const version = (await device.database()).get('depotd')?.version ?? 'gone';
  const expected = versionOf(state === 'done' ? 2 : 1);
  const problems = version === expected ? [] : [`${state}, and depotd is ${version}`];
  if (state === 'done' && newer !== 'answers') problems.push('done, though nobody answers');
  if ((await device.read('etc/config/depotd')) !== OWN_CONFIGURATION) {
    problems.push('the configuration is not as it was');
  }
  if ((await device.read('etc/depotd/self-upgrade/settings')) !== undefined) {
    problems.push(`${state}, and the folder of the upgrade is left`);
  }
  return [...problems, ...(await problemsOfFiles(device, version))];
}

async function problemsOfFiles(device: Device, version: string): Promise<string[]> {
  const problems: string[] = [];
  const program = await device.read(STORE_PROGRAM);
  if (program?.startsWith(`// depotd ${version}\n`) !== true) {
    problems.push(`the program is not that of ${version}: ${program ?? 'gone'}`);
  }
  for (const each of [versionOf(1), versionOf(2)]) {
    const isThere = (await device.read(`usr/share/depotd/${each}`)) !== undefined;
    if (isThere !== (each === version)) {
      problems.push(`depotd is ${version}, a file of ${each} is ${isThere ? '' : 'not '}there`);
    }
  }
  return problems;
}
