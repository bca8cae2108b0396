import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { ARCHITECTURE } from './packages/packages.ts';

export interface RootOptions {
  feedUrl: string;
  /** Whether opkg is told to check the feed's signature. */
  isSigned: boolean;
}

/**
 * Lays out a folder as the root of an OpenWrt device on which libc is installed and one feed is set
 * up.
 */
export async function createRoot(root: string, options: RootOptions): Promise<void> {
  for (const folder of FOLDERS) await mkdir(join(root, folder), { recursive: true });
  await symlink('tmp', join(root, 'var'));
  await Promise.all(
    Object.entries(filesOf(root, options)).map(([path, content]) =>
      writeRootFile(join(root, path), content),
    ),
  );
}

const FOLDERS = [
  'bin',
  'etc/config',
  'etc/init.d',
  'etc/opkg/keys',
  'etc/rc.d',
  'etc/uci-defaults',
  'lib',
  'mnt',
  'overlay',
  'root',
  'sbin',
  'tmp/lock',
  'tmp/log',
  'tmp/opkg-lists',
  'tmp/run',
  'usr/bin',
  'usr/lib/opkg/info',
  'usr/libexec',
  'usr/sbin',
  'usr/share',
  'www/luci-static/resources',
];

function filesOf(root: string, { feedUrl, isSigned }: RootOptions): Record<string, string> {
  return {
    // opkg reads this one on the device itself; told of an offline root, it reads only
    // etc/opkg/*.conf.
    'etc/opkg.conf': SETTINGS,
    'etc/opkg/arch.conf': `arch all 1\narch noarch 1\narch ${ARCHITECTURE} 10\n`,
    'etc/opkg/customfeeds.conf': '# add your custom package feeds here\n',
    'etc/opkg/device.conf': `${SETTINGS.replace('/overlay', join(root, 'overlay'))}${isSigned ? signatureSettings(root) : ''}`,
    'etc/opkg/distfeeds.conf': `src/gz lab ${feedUrl}\n`,
    'etc/config/uhttpd': UHTTPD,
    'etc/openwrt_release': `DISTRIB_ID='OpenWrt'\nDISTRIB_RELEASE='22.03.7'\nDISTRIB_ARCH='${ARCHITECTURE}'\n`,
    'lib/functions.sh': FUNCTIONS,
    'usr/lib/opkg/info/libc.control': LIBC,
    'usr/lib/opkg/info/libc.list': '',
    'usr/lib/opkg/status': `${LIBC}Status: install user installed\nEssential: yes\nInstalled-Time: 1700000000\n\n`,
    'usr/sbin/opkg-key': OPKG_KEY,
  };
}

const UHTTPD = `config uhttpd 'main'\n\tlist listen_http '0.0.0.0:80'\n\tlist listen_http '[::]:80'\n`;

const SETTINGS =
  'dest root /\ndest ram /tmp\nlists_dir ext /var/opkg-lists\noption overlay_root /overlay\n';

function signatureSettings(root: string): string {
  return `option check_signature\noption verify_program ${join(root, 'usr/sbin/opkg-key')}\n`;
}

const LIBC = `Package: libc\nVersion: 1.2.3-4\nArchitecture: ${ARCHITECTURE}\n`;

/**
 * Of OpenWrt's functions those that default maintainer scripts call, in as much as they touch
 * files.
 */
const FUNCTIONS = `run_package_part() {
	[ ! -f "$IPKG_INSTROOT/usr/lib/opkg/info/$package.$part" ] || . "$IPKG_INSTROOT/usr/lib/opkg/info/$package.$part"
}

init_scripts() {
	sed -n 's,^/etc/init.d/,,p' "$IPKG_INSTROOT/usr/lib/opkg/info/$package.list"
}

default_postinst() {
	local package="$(basename "\${1%.*}")" part=postinst-pkg result
	run_package_part "$@"
	result=$?
	for script in $(init_scripts); do
		ln -sf "../init.d/$script" "$IPKG_INSTROOT/etc/rc.d/S99$script"
	done
	return $result
}

default_prerm() {
	local package="$(basename "\${1%.*}")" part=prerm-pkg result
	run_package_part "$@"
	result=$?
	for script in $(init_scripts); do
		rm -f "$IPKG_INSTROOT/etc/rc.d/S99$script"
	done
	return $result
}
`;

/** Takes the file's checksum for its signature, so that no key has to be made. */
const OPKG_KEY = `#!/bin/sh
[ "$1" = verify ] && [ "$(cat "$2")" = "$(sha256sum < "$3" | cut -d ' ' -f 1)" ]
`;

async function writeRootFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode: content.startsWith('#!') ? 0o755 : 0o644 });
}
