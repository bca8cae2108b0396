import { toApkPackage } from '../../device/apk-device/apk-conversion.ts';
import type { FeedPackage } from '../../device/feed-index.ts';
import { openApkStore, type ApkStore } from '../../package-management/apk/open-store.ts';
import { openStore, type Store } from '../packages/open-store.ts';

export const MANAGERS = ['opkg', 'apk'] as const;
export type Manager = (typeof MANAGERS)[number];

/** What both kinds of devices have. */
export type EitherStore = Pick<Store, 'daemon' | 'run' | 'statusOf' | 'close'> & {
  device: Pick<Store['device'] | ApkStore['device'], 'root' | 'read' | 'publish'>;
};

/** A daemon of that manager's device, and the packages in a feed for it. */
export function openStoreOf(
  manager: Manager,
  packages: readonly FeedPackage[],
): Promise<EitherStore> {
  if (manager === 'opkg') return openStore({ packages });
  const maker = process.env.APK_FULL;
  return openApkStore({
    packages: packages.map(toApkPackage),
    ...(maker !== undefined && { maker }),
  });
}

/** The same packages in a feed for opkg and in one for apk, and a daemon for each. */
export async function openStores(
  packages: readonly FeedPackage[],
): Promise<Record<Manager, EitherStore>> {
  const [opkg, apk] = await Promise.all([
    openStoreOf('opkg', packages),
    openStoreOf('apk', packages),
  ]);
  return { opkg, apk };
}

/** A version as that manager's packages have it. */
export function versionFor(manager: Manager, version: string): string {
  return manager === 'opkg' ? version : version.replace(/-(\d+)$/, '-r$1');
}
