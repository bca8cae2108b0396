import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { completionScript } from '../src/cli/usage/completion.ts';
import type { PackageContents } from './ipk.ts';
import { manPages } from './man-pages.ts';
import type { NodeRuntime } from './node-runtime.ts';
import {
  archiveBytes,
  installedBytes,
  type PackageFile,
  type PackageFiles,
} from './package-files.ts';

/** What the packages are made of: each of their files, and where it comes from. */

export const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));

export interface Release {
  /** Numbers and points. */
  version: string;
  /** Unix seconds. */
  modifiedAt: number;
}

/** Counts packages of one version, in the way that OpenWrt writes for opkg and apk alike. */
const RELEASE = 'r1';

/** Where bash's package bash-completion looks for it by the command's name. */
const BASH_COMPLETION = '/usr/share/bash-completion/completions/depotctl';

/** The licences of what is bundled: `npm run build` makes it. */
const THIRD_PARTY = 'THIRD-PARTY-LICENSES.txt';

const DESCRIPTION =
  'Agent of a router or NAS for its admin panel: packages with live task logs, disks, ' +
  "container data, the code forge's API.";

export function openwrtPackage(release: Release): PackageContents {
  const files: PackageFiles = {
    ...programs(),
    ...bundles(),
    '/etc/config/depotd': { content: read('packaging/openwrt/depotd.config'), mode: 0o600 },
    '/etc/init.d/depotd': program('init/depotd.init'),
    '/etc/uci-defaults/80-depotd': program('packaging/openwrt/uci-defaults'),
    '/lib/upgrade/keep.d/depotd': read('packaging/openwrt/keep'),
    '/usr/lib/depotd/uhttpd-handler': program('packaging/uhttpd/uhttpd-handler'),
    [BASH_COMPLETION]: completionScript('bash'),
    ...relayModules(),
    '/usr/share/rpcd/acl.d/depotd.json': read('packaging/openwrt/ubus/acl.json'),
    '/usr/share/rpcd/ucode/depotd.uc': read('packaging/openwrt/ubus/depotd.uc'),
    '/www/cgi-bin/panel': program('packaging/uhttpd/panel'),
    ...licence('depotd'),
    [`/usr/share/licenses/depotd/${THIRD_PARTY}`]: read(`dist/${THIRD_PARTY}`),
  };
  return openwrtContents(release, {
    name: 'depotd',
    depends:
      'libc, node (>= 20.19), rsync, script-utils, lsblk, blkid, ucode, ucode-mod-fs, ' +
      'ucode-mod-socket, ucode-mod-uloop',
    description: DESCRIPTION,
    files,
    conffiles: ['/etc/config/depotd'],
    scripts: {
      ...DEFAULT_SCRIPTS,
      'postinst-pkg': read('packaging/openwrt/postinst-pkg'),
      'prerm-pkg': read('packaging/openwrt/prerm-pkg'),
      postrm: read('packaging/openwrt/postrm-opkg') + read('packaging/openwrt/postrm'),
    },
  });
}

/**
 * Node for depotd alone, where the device's feed has none: it stands for the package that depotd
 * asks for.
 */
export function nodePackage(
  {
    version,
    architecture,
    depends,
    content,
    libraries,
    licence: text,
  }: Omit<NodeRuntime, 'machine'>,
  { modifiedAt }: Pick<Release, 'modifiedAt'>,
): PackageContents {
  const files: PackageFiles = {
    '/usr/lib/depotd/node': { content, mode: 0o755 },
    ...Object.fromEntries(
      libraries.map((library) => [
        `/usr/lib/depotd/lib/${library.name}`,
        { content: library.content },
      ]),
    ),
    '/usr/share/licenses/depotd-node/LICENSE': text,
  };
  return openwrtContents(
    { version, modifiedAt },
    {
      name: 'depotd-node',
      depends: depends.join(', '),
      architecture,
      description:
        'Node.js for depotd, which prefers it to the one of the feed. Nothing else finds it.',
      files,
      provides: 'node',
      scripts: { postrm: removeFolders('depotd-node', 'usr/lib/depotd/lib', 'usr/lib/depotd') },
    },
  );
}

/** opkg leaves folders; one in which others have something stays. */
export function removeFolders(name: string, ...folders: string[]): string {
  return `#!/bin/sh
for folder in ${[...folders, `usr/share/licenses/${name}`].join(' ')} usr/share/licenses; do
	rmdir "$IPKG_INSTROOT/$folder" 2>/dev/null
done
exit 0
`;
}

/** For Debian and what comes from it, with systemd or without. */
export function debianPackage({ version, modifiedAt }: Release): PackageContents {
  const files: PackageFiles = {
    ...programs(),
    ...bundles(),
    // Debian wants what names its interpreter to be executable.
    '/usr/lib/depotd/depotctl.mjs': program('dist/depotctl.mjs'),
    '/usr/lib/depotd/depotd.mjs': program('dist/depotd.mjs'),
    '/usr/lib/depotd/start.cjs': program('dist/start.cjs'),
    '/etc/config/depotd': read('packaging/debian/depotd.config'),
    '/etc/init.d/depotd': program('init/depotd.sysv'),
    '/usr/lib/systemd/system/depotd.service': read('init/depotd.service'),
    '/usr/lib/systemd/system/depotd-resume.service': read('init/depotd-resume.service'),
    '/usr/share/doc/depotd/copyright': read('LICENSE'),
    [`/usr/share/doc/depotd/${THIRD_PARTY}`]: read(`dist/${THIRD_PARTY}`),
    '/usr/share/doc/depotd/changelog.Debian.gz': packed(debianChangelog(version, modifiedAt)),
    '/usr/share/lintian/overrides/depotd': read('packaging/debian/lintian-overrides'),
    ...Object.fromEntries(
      Object.entries(manPages(version)).map(([path, page]) => [
        `/usr/share/man/${path}.gz`,
        packed(page),
      ]),
    ),
    [BASH_COMPLETION]: completionScript('bash'),
    '/usr/share/zsh/vendor-completions/_depotctl': completionScript('zsh'),
    '/usr/share/fish/vendor_completions.d/depotctl.fish': completionScript('fish'),
  };
  return {
    control: {
      Package: 'depotd',
      Version: `${version}-${RELEASE}`,
      Architecture: 'all',
      Maintainer: MAINTAINER,
      'Installed-Size': String(Math.ceil(installedBytes(files) / 1024)),
      'Pre-Depends': 'init-system-helpers (>= 1.54~)',
      Depends: 'nodejs (>= 20.19), rsync',
      Section: 'admin',
      Priority: 'optional',
      Description: `agent of a router or NAS for its admin panel\n${wrapped(DESCRIPTION)}`,
    },
    files,
    conffiles: ['/etc/config/depotd', '/etc/init.d/depotd'],
    scripts: {
      postinst: read('packaging/debian/postinst'),
      prerm: read('packaging/debian/prerm'),
      postrm: read('packaging/debian/postrm'),
    },
    modifiedAt,
  };
}

const MAINTAINER = 'depotd <depotd@localhost>';

/** Debian's own; what changed stands in the repository. */
function debianChangelog(version: string, modifiedAt: number): string {
  const date = new Date(modifiedAt * 1000).toUTCString().replace('GMT', '+0000');
  return (
    `depotd (${version}-${RELEASE}) unstable; urgency=medium\n\n  * Version ${version}.\n\n` +
    ` -- ${MAINTAINER}  ${date}\n`
  );
}

/** In lines of a terminal, each behind a space. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,76})(?: |$)/g, ' $1\n').trimEnd();
}

function packed(text: string): PackageFile {
  return { content: gzipSync(text, { level: 9 }) };
}

interface OpenwrtPackage extends Pick<PackageContents, 'files' | 'conffiles' | 'scripts'> {
  name: string;
  depends: string;
  description: string;
  provides?: string;
  /** Default `admin`. */
  section?: string;
  /** Default `all`. */
  architecture?: string;
}

/** With the fields that OpenWrt's builder writes, in its order. */
export function openwrtContents(
  { version, modifiedAt }: Release,
  {
    name,
    depends,
    provides,
    section = 'admin',
    architecture = 'all',
    description,
    ...contents
  }: OpenwrtPackage,
): PackageContents {
  const control = {
    Package: name,
    Version: `${version}-${RELEASE}`,
    Depends: depends,
    ...(provides === undefined ? {} : { Provides: provides }),
    License: 'MIT',
    Section: section,
    SourceDateEpoch: String(modifiedAt),
    Architecture: architecture,
    'Installed-Size': String(archiveBytes(contents.files)),
    Description: description,
  };
  return { control, ...contents, modifiedAt };
}

/** Of an image that is built, opkg runs the scripts when it first starts. */
export const UNLESS_NO_SCRIPT = '[ "${IPKG_NO_SCRIPT}" = "1" ] && exit 0\n';

/**
 * What OpenWrt's builder makes of every package: its functions enable, start and stop the init
 * script, and run the package's own part.
 */
export const DEFAULT_SCRIPTS = {
  postinst: withFunctions(UNLESS_NO_SCRIPT, 'default_postinst "$0" "$@"\n'),
  prerm: withFunctions('', 'default_prerm "$0" "$@"\n'),
};

export function withFunctions(first: string, own: string): string {
  return `#!/bin/sh
${first}[ -s "\${IPKG_INSTROOT}/lib/functions.sh" ] || exit 0
. "\${IPKG_INSTROOT}/lib/functions.sh"
${own}`;
}

/** Each package has its own: two packages cannot own one file. */
export function licence(name: string): PackageFiles {
  return { [`/usr/share/licenses/${name}/LICENSE`]: read('LICENSE') };
}

/** On a device, depotd finds its programs here. */
function programs(): PackageFiles {
  return {
    '/usr/bin/depotctl': program('packaging/files/depotctl'),
    '/usr/lib/depotd/reload': program('init/reload'),
    '/usr/lib/depotd/resume-self-upgrade': program('init/resume-self-upgrade'),
    '/usr/sbin/depotd': program('packaging/files/depotd'),
  };
}

/** uhttpd's handler, and what it shares with the CGI program. */
function relayModules(): PackageFiles {
  const names = ['answer.uc', 'http.uc', 'istore_path.uc', 'istore.uc', 'relay.uc', 'uhttpd.uc'];
  return Object.fromEntries(
    names.map((name) => [
      `/usr/share/ucode/depotd/${name}`,
      read(`packaging/uhttpd/depotd/${name}`),
    ]),
  );
}

/** What `npm run build` made. */
function bundles(): PackageFiles {
  return {
    '/usr/lib/depotd/depotctl.mjs': read('dist/depotctl.mjs'),
    '/usr/lib/depotd/depotd.cjs': { content: readFileSync(`${REPOSITORY}dist/depotd.cjs`) },
    '/usr/lib/depotd/depotd.mjs': read('dist/depotd.mjs'),
    '/usr/lib/depotd/start.cjs': read('dist/start.cjs'),
  };
}

function program(path: string): PackageFile {
  return { content: read(path), mode: 0o755 };
}

export function read(path: string): string {
  return readFileSync(`${REPOSITORY}${path}`, 'utf8');
}
