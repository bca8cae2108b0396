import { access, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Paths } from '../../device/paths.ts';
import { replaceFile } from '../../device/durable-file.ts';
import type { SelfUpgradeHost } from './port.ts';
import type { PackageHost } from '../packages/package-manager.ts';
import { PROBE_SCRIPT, WATCH_SCRIPT } from './watcher-script.ts';

export interface SelfUpgradeOptions {
  paths: Paths;
  environment: Record<string, string>;
  packages: Pick<PackageHost, 'read' | 'pack' | 'statusFile'>;
  /** How long the new version may take to answer. */
  limitSeconds: number;
  /** Where it answers: `HOST PORT` or `unix PATH`. */
  healthAddress: () => string;
}

export function createSelfUpgradeHost({
  paths,
  environment,
  packages,
  limitSeconds,
  healthAddress,
}: SelfUpgradeOptions): SelfUpgradeHost {
  const folder = join(paths.stateDir, 'self-upgrade');
  return {
    keep: async (name) => {
      const version = (await packages.read()).get(name)?.version ?? '';
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await packages.pack(name, join(folder, 'old.ipk'));
      const settings = [
        name,
        version,
        packages.statusFile,
        limitSeconds,
        process.execPath,
        healthAddress(),
        paths.isLive ? '' : paths.root,
      ];
      await replaceFile(join(folder, 'settings'), `${settings.join('\n')}\n`);
      await replaceFile(join(folder, 'watch.sh'), WATCH_SCRIPT);
      await replaceFile(join(folder, 'probe.cjs'), PROBE_SCRIPT);
      await replaceFile(join(folder, 'pending'), '');
    },
    command: () => ({
      argv: ['/bin/sh', join(folder, 'watch.sh'), 'now'],
      environment: paths.isLive ? environment : { ...environment, IPKG_INSTROOT: paths.root },
      cwd: '/',
    }),
    forget: async () => {
      const isPending = await access(join(folder, 'pending')).then(
        () => true,
        () => false,
      );
      if (!isPending) await rm(folder, { recursive: true, force: true });
    },
  };
}
