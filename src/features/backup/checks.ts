import { readdir } from 'node:fs/promises';
import type { Paths } from '../../device/paths.ts';
import type { DeviceCheck, Finding } from '../device-check.ts';
import { configurationSums, keptFiles } from './kept-files.ts';

const MOST_NAMES = 8;

export function backupChecks(paths: Paths): readonly DeviceCheck[] {
  return [{ id: 'kept-configuration', run: () => judgeConfiguration(paths) }];
}

/** What nobody names is gone behind a firmware upgrade. */
async function judgeConfiguration(paths: Paths): Promise<Finding> {
  const entries = await readdir(paths.onDevice('/etc/config'), { withFileTypes: true }).catch(
    () => [],
  );
  const files = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => `/etc/config/${name}`);
  if (files.length === 0) return { state: 'skipped', message: 'there is no file in /etc/config' };
  const kept = new Set([...(await keptFiles(paths)), ...(await configurationSums(paths)).keys()]);
  const lost = files.filter((file) => !kept.has(file)).sort();
  if (lost.length === 0) {
    return {
      state: 'ok',
      message: `a firmware upgrade keeps all ${files.length} files of /etc/config`,
    };
  }
  const more = lost.length > MOST_NAMES ? ` and ${lost.length - MOST_NAMES} more` : '';
  return {
    state: 'warning',
    message: `a firmware upgrade would lose ${lost.slice(0, MOST_NAMES).join(', ')}${more}`,
    remedy: 'name them in /etc/sysupgrade.conf',
  };
}
