import { createHash } from 'node:crypto';
import type { ApkContents, ApkScript } from './apk.ts';
import type { PackageContents } from './ipk.ts';
import type { PackageFile, PackageFiles } from './package-files.ts';
import { read, UNLESS_NO_SCRIPT, withFunctions } from './packages.ts';

/** The packages as apk has them, in the way of OpenWrt's builder (include/package-pack.mk). */

export interface ApkPackage {
  fileName: string;
  contents: ApkContents;
}

type Scripts = Partial<Record<ApkScript, string>>;

export function depotdApk(contents: PackageContents): ApkPackage {
  return toApk(contents, {
    ...defaultScripts(contents),
    'pre-upgrade': inUpgrade(read('packaging/openwrt/preinst-apk')),
    // Without what opkg needs before it: apk runs this in a removal alone.
    'post-deinstall': read('packaging/openwrt/postrm'),
  });
}

export function luciApk(contents: PackageContents): ApkPackage {
  const { postrm = '' } = contents.scripts ?? {};
  return toApk(contents, { ...defaultScripts(contents), 'post-deinstall': postrm });
}

/** Without scripts: what they do for opkg, apk does by itself. */
export function plainApk(contents: PackageContents): ApkPackage {
  return toApk(contents, {});
}

/**
 * apk chooses a package by a name that it provides without a version only if it has a priority.
 * With a version, no other package of that name could be installed beside it.
 */
const PROVIDER_PRIORITY = '100';

function toApk({ control, files, conffiles, modifiedAt }: PackageContents, scripts: Scripts) {
  const field = (name: string): string => control[name] ?? '';
  const [name, version, architecture] = [field('Package'), field('Version'), field('Architecture')];
  const info: ApkContents['info'] = [
    ['pkgname', name],
    ['pkgver', version],
    ['pkgdesc', field('Description')],
    ['arch', architecture === 'all' ? 'noarch' : architecture],
    ['license', field('License')],
    ['origin', name],
    ['builddate', String(modifiedAt)],
    ...field('Depends')
      .split(', ')
      .map((depend) => ['depend', abiName(depend)] as const),
    ...(control['Provides'] === undefined
      ? []
      : ([
          ['provides', control['Provides']],
          ['provider_priority', PROVIDER_PRIORITY],
        ] as const)),
  ];
  const records = recordsOf({ name, files, conffiles });
  const contents = { info, files: { ...files, ...records }, scripts, modifiedAt };
  return { fileName: `${name}-${version}.apk`, contents };
}

/**
 * Libraries whose package is named with its ABI version. They provide the name without it, but in
 * a way that apk does not choose them by.
 */
const ABI_NAMES: Readonly<Record<string, string>> = {
  libgcc: 'libgcc1',
  libstdcpp: 'libstdcpp6',
  libatomic: 'libatomic1',
  libopenssl: 'libopenssl3',
  libuv: 'libuv1',
  libnghttp2: 'libnghttp2-14',
};

/** Without the version: what stands for a name provides none, so that it keeps nobody out. */
function abiName(depend: string): string {
  const [name = ''] = depend.split(' ');
  return ABI_NAMES[name] ?? name;
}

/** What OpenWrt's functions and sysupgrade read: the list of files, and of those to keep. */
function recordsOf({
  name,
  files,
  conffiles = [],
}: {
  name: string;
  files: PackageFiles;
  conffiles: readonly string[] | undefined;
}): PackageFiles {
  const records = `/lib/apk/packages/${name}`;
  const list = { [`${records}.list`]: lines(Object.keys(files).sort()) };
  if (conffiles.length === 0) return list;
  const sums = conffiles.map((path) => `${path} ${sha256(contentOf(files[path]))}`);
  return {
    ...list,
    [`${records}.conffiles`]: lines(conffiles),
    [`${records}.conffiles_static`]: lines(sums),
  };
}

function contentOf(file: PackageFile | undefined): string | Buffer {
  if (file === undefined || typeof file === 'string') return file ?? '';
  return 'target' in file ? file.target : file.content;
}

/** OpenWrt's functions, and behind them the package's own lines. */
function defaultScripts({ control, scripts = {} }: PackageContents): Scripts {
  const names = `export root="\${IPKG_INSTROOT}"\nexport pkgname="${control['Package'] ?? ''}"\n`;
  const install = withFunctions(
    UNLESS_NO_SCRIPT,
    `${names}default_postinst\n${scripts['postinst-pkg'] ?? ''}`,
  );
  return {
    'post-install': install,
    'post-upgrade': inUpgrade(install),
    'pre-deinstall': withFunctions('', `${names}default_prerm\n${scripts['prerm-pkg'] ?? ''}`),
  };
}

function inUpgrade(script: string): string {
  return script.replace(/^#!.*\n/, '$&export PKG_UPGRADE=1\n');
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function lines(values: readonly string[]): string {
  return values.map((value) => `${value}\n`).join('');
}
