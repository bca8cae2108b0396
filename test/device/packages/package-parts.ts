import type { FeedPackage } from '../feed-index.ts';
import type { PackageFile } from '../../../packaging/package-files.ts';

/**
 * The maintainer scripts that OpenWrt's build puts into every package. With an offline root scripts
 * run on the host: nothing in them, nor in any script of these feeds, may touch a path that is not
 * below IPKG_INSTROOT.
 */
export const DEFAULT_POSTINST = `#!/bin/sh
[ "\${IPKG_NO_SCRIPT}" = "1" ] && exit 0
[ -s \${IPKG_INSTROOT}/lib/functions.sh ] || exit 0
. \${IPKG_INSTROOT}/lib/functions.sh
default_postinst $0 $@
`;

export const DEFAULT_PRERM = `#!/bin/sh
[ -s \${IPKG_INSTROOT}/lib/functions.sh ] || exit 0
. \${IPKG_INSTROOT}/lib/functions.sh
default_prerm $0 $@
`;

export function program(name: string, version: string): PackageFile {
  return { mode: 0o755, content: `#!/bin/sh\necho ${name} ${version}\n` };
}

export function initScript(command: string): string {
  return `#!/bin/sh /etc/rc.common
START=99
USE_PROCD=1
start_service() {
	procd_open_instance
	procd_set_param command ${command}
	procd_close_instance
}
`;
}

export function libraryPackage(name: string, version: string): FeedPackage {
  return {
    name,
    version,
    architecture: 'x86_64',
    fields: { Depends: 'libc', Source: `feeds/lab/${name}`, License: 'MIT', Section: 'libs' },
    files: { [`/usr/lib/${name}.so.1`]: `${name} ${version}\n` },
  };
}

/** A package with one program and, if wanted, further fields, scripts and files. */
export function simplePackage(name: string, more: Partial<FeedPackage> = {}): FeedPackage {
  return {
    name,
    version: '1.0-1',
    architecture: 'all',
    ...more,
    files: { [`/usr/bin/${name}`]: program(name, '1.0-1'), ...more.files },
  };
}
