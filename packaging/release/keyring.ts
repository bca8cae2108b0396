import type { PackageContents } from '../ipk.ts';
import type { PackageFiles } from '../package-files.ts';
import { licence, openwrtContents, removeFolders, type Release } from '../packages.ts';
import { apkKeyPath, bothOf, opkgKeyPath, type ReleaseKeys } from './keys.ts';

/**
 * The public keys as a package: a release that is signed with the old key brings the next one, and
 * the one after it takes the old one away.
 */
export function keyringPackage(
  release: Release,
  { manager, keys }: { manager: 'opkg' | 'apk'; keys: ReleaseKeys },
): PackageContents {
  const publicKeys = Object.fromEntries(
    bothOf(keys).map(({ opkg, apk }) =>
      manager === 'opkg' ? [opkgKeyPath(opkg), opkg.publicText] : [apkKeyPath(apk), apk.publicPem],
    ),
  );
  const kept = '/lib/upgrade/keep.d/depotd-keyring';
  const files: PackageFiles = {
    ...publicKeys,
    [kept]: [kept, ...Object.keys(publicKeys)].map((path) => `${path}\n`).join(''),
    ...licence('depotd-keyring'),
  };
  return openwrtContents(release, {
    name: 'depotd-keyring',
    depends: 'libc',
    section: 'base',
    description: "The keys that depotd's packages are signed with.",
    files,
    scripts: { postrm: removeFolders('depotd-keyring') },
  });
}
