import { createHash } from 'node:crypto';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { installedBytes, toEntries } from '../../../packaging/package-files.ts';
import { createTar, type TarEntry } from '../../../packaging/tar.ts';
import { KEY_NAME, stanzaText } from './apk-index.ts';
import { createApk, type Apk, type ApkSource } from './apk.ts';
import { ARCHITECTURE } from '../packages/packages.ts';
import { MODIFIED_AT } from '../tar.ts';

export interface ApkRootOptions {
  feedUrl: string;
  /** The file in the feed that lists its packages. */
  indexName: string;
  /** PEM, of the key that signs indexes. */
  publicKey: string;
}

/**
 * Lays out a folder as the root of an OpenWrt device on which the base system is installed by apk
 * and one feed is set up.
 */
export async function createApkRoot(
  root: string,
  { feedUrl, indexName, publicKey }: ApkRootOptions,
): Promise<void> {
  for (const folder of FOLDERS) await mkdir(join(root, folder), { recursive: true });
  await symlink('tmp', join(root, 'var'));
  const base = BASE_SYSTEM.map(createApk);
  for (const apk of base) await unpack(root, apk);
  const names = BASE_SYSTEM.map(({ name }) => `${name}\n`).toSorted();
  await writeFiles(root, {
    'etc/apk/arch': `${ARCHITECTURE}\n`,
    [`etc/apk/keys/${KEY_NAME}`]: publicKey,
    'etc/apk/repositories.d/customfeeds.list': '# add your custom package feeds here\n',
    'etc/apk/repositories.d/distfeeds.list': `${feedUrl}/${indexName}\n`,
    'etc/apk/world': names.join(''),
    'lib/apk/db/installed': base.map(installedText).join(''),
    'lib/apk/db/lock': '',
    'lib/apk/db/scripts.tar.gz': gzipSync(createTar([], MODIFIED_AT)),
    'lib/apk/db/triggers': '',
  });
  await chmod(join(root, 'lib/apk/db/lock'), 0o600);
}

const FOLDERS = [
  'bin',
  'etc/apk/keys',
  'etc/apk/repositories.d',
  'etc/config',
  'etc/init.d',
  'etc/rc.d',
  'etc/uci-defaults',
  'lib/apk/db',
  'lib/apk/packages',
  'mnt',
  'overlay',
  'root',
  'sbin',
  'tmp/cache/apk',
  'tmp/lock',
  'tmp/log',
  'tmp/run',
  'usr/bin',
  'usr/libexec',
  'usr/sbin',
  'usr/share',
  'www/luci-static/resources',
];

/**
 * Of OpenWrt's functions those that maintainer scripts call, in as much as they touch files.
 * `pkgname` and `root` are theirs.
 */
const FUNCTIONS = `init_scripts() {
	sed -n 's,^/etc/init.d/,,p' "$root/lib/apk/packages/$pkgname.list"
}

default_postinst() {
	for script in $(init_scripts); do
		ln -sf "../init.d/$script" "$root/etc/rc.d/S99$script"
	done
}

default_prerm() {
	for script in $(init_scripts); do
		rm -f "$root/etc/rc.d/S99$script"
	done
}
`;

/** What came with the firmware; its feed has it, too. */
export const BASE_SYSTEM: readonly ApkSource[] = [
  {
    name: 'base-files',
    version: '1700~abcdef0',
    architecture: ARCHITECTURE,
    origin: 'base-files',
    depends: ['libc'],
    files: {
      '/etc/openwrt_release': `DISTRIB_ID='OpenWrt'\nDISTRIB_RELEASE='25.12.4'\nDISTRIB_ARCH='${ARCHITECTURE}'\n`,
      '/lib/functions.sh': FUNCTIONS,
    },
  },
  {
    name: 'busybox',
    version: '1.37.0-r6',
    architecture: ARCHITECTURE,
    origin: 'package/utils/busybox',
    depends: ['libc'],
    files: { '/bin/busybox': { content: 'busybox 1.37.0\n', mode: 0o755 } },
  },
  {
    name: 'libc',
    version: '1.2.5-r5',
    architecture: ARCHITECTURE,
    origin: 'package/libs/toolchain',
    files: { '/lib/libc.so': { content: 'libc 1.2.5\n', mode: 0o755 } },
  },
];

async function unpack(root: string, { files }: Apk): Promise<void> {
  for (const [path, file] of Object.entries(files)) {
    const target = join(root, path);
    await mkdir(dirname(target), { recursive: true });
    if (typeof file === 'string') await writeFile(target, file);
    else if ('target' in file) await symlink(file.target, target);
    else await writeFile(target, file.content, { mode: file.mode ?? 0o644 });
  }
}

/** The package's stanza in the database, as apk writes it after an installation. */
function installedText(apk: Apk): string {
  const { identity, files } = apk;
  const entries = toEntries(files).map((entry) => ({ ...entry, name: entry.name.slice(2) }));
  const folders = entries.map(({ name }) => name).filter((name) => name.endsWith('/'));
  const lines = folders.flatMap((folder) => [
    `F:${folder.slice(0, -1)}`,
    ...entries.filter(({ name }) => isDirectlyIn(folder, name)).flatMap(fileLines),
  ]);
  const head = stanzaText(apk, { identity, installedSizeBytes: installedBytes(files) });
  return `${head}${lines.map((line) => `${line}\n`).join('')}\n`;
}

function isDirectlyIn(folder: string, name: string): boolean {
  return name.startsWith(folder) && /^[^/]+$/.test(name.slice(folder.length));
}

function fileLines({ name, mode, content, target }: TarEntry): string[] {
  const sum = createHash('sha1')
    .update(content ?? target ?? '')
    .digest('base64');
  const modeLines = mode === 0o644 ? [] : [`a:0:0:${mode.toString(8)}`];
  return [`R:${name.slice(name.lastIndexOf('/') + 1)}`, ...modeLines, `Z:Q1${sum}`];
}

async function writeFiles(
  root: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) await writeFile(join(root, path), content);
}
