import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../../device/command.ts';
import { replaceFile } from '../../device/durable-file.ts';
import { isThere } from '../../device/is-there.ts';
import type { SelfUpgradeHost } from './port.ts';
import type { FeatureContext } from '../feature.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import PROBE_SCRIPT from './probe.script.cjs';
import WATCH_SCRIPT from './watch.sh';

export interface SelfUpgradeOptions extends Pick<FeatureContext, 'paths' | 'scriptEnvironment'> {
  manager: PackageManager;
  /** How long the new version may take to answer. */
  limitSeconds: number;
  /** Between two questions. */
  pauseSeconds: number;
  /** Where it answers: `HOST PORT` or `unix PATH`. */
  healthAddress: () => string;
}

export function createSelfUpgradeHost({
  paths,
  scriptEnvironment,
  manager,
  limitSeconds,
  pauseSeconds,
  healthAddress,
}: SelfUpgradeOptions): SelfUpgradeHost {
  const folder = join(paths.stateDir, 'self-upgrade');
  const { pack, script, settings } = manager.selfUpgrade;
  const watcher = (mode: 'now' | 'boot'): Command => ({
    argv: ['/bin/sh', join(folder, 'watch.sh'), mode],
    environment: scriptEnvironment,
    cwd: '/',
  });
  const state: SelfUpgradeHost['state'] = async () => {
    if (await isThere(join(folder, 'pending'))) return 'waiting';
    return (await isThere(folder)) ? 'kept' : 'gone';
  };
  return {
    state,
    saveOldVersion: async (name) => {
      const version = (await manager.installed()).get(name)?.version ?? '';
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await pack(name, join(folder, `old.${manager.files.ending}`));
      const lines = [
        name,
        version,
        limitSeconds,
        pauseSeconds,
        process.execPath,
        healthAddress(),
        paths.isLive ? '' : paths.root,
        ...settings,
      ];
      await replaceFile(join(folder, 'settings'), `${lines.join('\n')}\n`);
      await replaceFile(join(folder, 'manager.sh'), script);
      await replaceFile(join(folder, 'watch.sh'), WATCH_SCRIPT);
      await replaceFile(join(folder, 'probe.cjs'), PROBE_SCRIPT);
      await replaceFile(join(folder, 'pending'), '');
    },
    command: () => watcher('now'),
    commandAgain: () => watcher('boot'),
    forget: async () => {
      if ((await state()) !== 'waiting') await rm(folder, { recursive: true, force: true });
    },
  };
}
