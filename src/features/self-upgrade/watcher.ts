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
export type SelfUpgradeHost = ReturnType<typeof createSelfUpgradeHost>;

export function createSelfUpgradeHost(
  { paths, scriptEnvironment, config }: FeatureContext,
  manager: PackageManager,
) {
  const folder = join(paths.stateDir, 'self-upgrade');
  const { pack, script, settings } = manager.selfUpgrade;
  const watcher = (mode: 'now' | 'boot'): Command => ({
    argv: ['/bin/sh', join(folder, 'watch.sh'), mode],
    environment: scriptEnvironment,
  });
  const state = async (): Promise<'waiting' | 'kept' | 'gone'> => {
    if (await isThere(join(folder, 'pending'))) return 'waiting';
    return (await isThere(folder)) ? 'kept' : 'gone';
  };
  return {
    /** `waiting` for a watcher; `kept` after one that could put neither version in order. */
    state,
    /**
     * Packs the package as it is installed into a file on flash, from which it can be put back.
     * @throws DepotError internal, no_space
     */
    saveOldVersion: async (name: string): Promise<void> => {
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
    /** Upgrades the package and waits for the new daemon's health; its exit codes: watch.sh. */
    command: (): Command => watcher('now'),
    /** The watcher once more, as it is called at boot; of two, one waits for the other. */
    commandAgain: (): Command => watcher('boot'),
    /** Removes what was kept, unless a watcher that is called at a boot still needs it. */
    forget: async (): Promise<void> => {
      if ((await state()) !== 'waiting') await rm(folder, { recursive: true, force: true });
    },
  };
}
