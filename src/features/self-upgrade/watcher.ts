import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SELF_UPGRADE_LIMIT_S, SELF_UPGRADE_PAUSE_S } from '../../config/environment.ts';
import { localAddress } from '../../config/listen-address.ts';
import type { Command } from '../../device/command.ts';
import { replaceFile } from '../../device/durable-file.ts';
import { isThere } from '../../device/is-there.ts';
import type { FeatureContext } from '../feature.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import PROBE_SCRIPT from './probe.script.cjs';
import WATCH_SCRIPT from './watch.sh';

/** Replaces the package that this daemon runs from, without it. */
export interface SelfUpgradeHost {
  /**
   * Packs the package as it is installed into a file on flash, from which it can be put back.
   * @throws DepotError internal, no_space
   */
  saveOldVersion: (name: string) => Promise<void>;
  /**
   * Upgrades the package and waits for the new daemon's health; ends with one of
   * SELF_UPGRADE_EXITS.
   */
  command: (name: string) => Command;
  /** The watcher once more, as it is called at boot; of two, one waits for the other. */
  commandAgain: () => Command;
  /** `waiting` for a watcher; `kept` after one that could put neither version in order. */
  state: () => Promise<'waiting' | 'kept' | 'gone'>;
  /**
   * Removes what was kept, unless it waits for a watcher: after a power cut one is called at boot.
   */
  forget: () => Promise<void>;
}

export function createSelfUpgradeHost(
  { paths, scriptEnvironment, config }: FeatureContext,
  manager: PackageManager,
): SelfUpgradeHost {
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
        SELF_UPGRADE_LIMIT_S,
        SELF_UPGRADE_PAUSE_S,
        process.execPath,
        localAddress(config().main.listen),
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
