import { readdir } from 'node:fs/promises';
import type { Paths } from '../../device/paths.ts';
import { isEnded } from '../../jobs/job.ts';
import { listNames } from '../../package-management/names.ts';
import type { DeviceCheck, Finding } from '../device-check.ts';
import type { FeatureContext } from '../feature.ts';
import { configurationSums, keptFiles } from './kept-files.ts';
import { MOST_TRIES, type RestoreDue } from './restore-due.ts';

const MOST_NAMES = 8;

interface CheckTools extends Pick<FeatureContext, 'paths' | 'queue'> {
  due: Pick<RestoreDue, 'givenUp'>;
}

export function backupChecks(tools: CheckTools): readonly DeviceCheck[] {
  return [
    { id: 'kept-configuration', run: () => judgeConfiguration(tools.paths) },
    { id: 'restore', run: () => judgeRestore(tools) },
  ];
}

/** Ahead of its end what comes back behind a firmware upgrade is not brought up to date. */
async function judgeRestore({ queue, due }: CheckTools): Promise<Finding> {
  const isOn = queue.all().some(({ kind, state }) => kind === 'restore' && !isEnded(state));
  const backup = isOn ? undefined : await due.givenUp();
  if (backup === undefined) return { state: 'skipped', message: 'no restore was given up' };
  const id = backup.slice(0, 8);
  return {
    state: 'warning',
    message: `a restore was given up: the backup ${id} did not come back in ${MOST_TRIES} tries`,
    remedy: 'restore it or another backup, or remove it',
  };
}

/** What nobody names is gone behind a firmware upgrade. */
async function judgeConfiguration(paths: Paths): Promise<Finding> {
  const folder = paths.onDevice('/etc/config');
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => `/etc/config/${name}`);
  if (files.length === 0) return { state: 'skipped', message: 'there is no file in /etc/config' };
  const kept = new Set([...(await keptFiles(paths)), ...(await configurationSums(paths)).keys()]);
  const lost = files.filter((file) => !kept.has(file)).sort();
  if (lost.length === 0) {
    const message = `a firmware upgrade keeps all ${files.length} files of /etc/config`;
    return { state: 'ok', message };
  }
  return {
    state: 'warning',
    message: `a firmware upgrade would lose ${listNames(lost, MOST_NAMES)}`,
    remedy: 'name them in /etc/sysupgrade.conf',
  };
}
