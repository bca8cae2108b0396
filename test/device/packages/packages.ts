import type { FeedPackage } from '../feed-index.ts';
import {
  DEFAULT_POSTINST,
  DEFAULT_PRERM,
  initScript,
  libraryPackage,
  program,
} from './package-parts.ts';

export type FeedVersion = 1 | 2;

/** The architecture of the device; packages without machine code are of architecture "all". */
export const ARCHITECTURE = 'x86_64';

/** Two apps and what they need. Version 2 of the feed has a later version of each. */
export function appPackages(feedVersion: FeedVersion): FeedPackage[] {
  return [
    libdemo(feedVersion),
    ...demo(feedVersion),
    ...notes(feedVersion),
    libraryPackage('libonce', '1.0-1'),
  ];
}

function libdemo(feedVersion: FeedVersion): FeedPackage {
  return libraryPackage('libdemo', feedVersion === 1 ? '1.0-1' : '1.0-2');
}

function demo(feedVersion: FeedVersion): FeedPackage[] {
  const version = feedVersion === 1 ? '1.0-1' : '1.1-1';
  const app: FeedPackage = {
    name: 'demo-app',
    version,
    architecture: 'all',
    fields: {
      Depends: 'libc, libdemo',
      Source: 'feeds/lab/demo-app',
      License: 'MIT',
      Section: 'utils',
    },
    files: {
      '/etc/config/demo-app': `config demo 'main'\n\toption enabled '1'\n\toption ver '${version}'\n`,
      '/etc/init.d/demo-app': { mode: 0o755, content: initScript('/usr/bin/demo-app') },
      '/usr/bin/demo-app': program('demo-app', version),
    },
    conffiles: ['/etc/config/demo-app'],
    scripts: {
      postinst: DEFAULT_POSTINST,
      'postinst-pkg':
        '#!/bin/sh\necho "demo-app postinst-pkg: args=[$*] PKG_ROOT=[$PKG_ROOT] IPKG_INSTROOT=[$IPKG_INSTROOT] PKG_UPGRADE=[$PKG_UPGRADE]"\n',
      prerm: DEFAULT_PRERM,
      postrm: '#!/bin/sh\necho "demo-app postrm: args=[$*] PKG_UPGRADE=[$PKG_UPGRADE]"\n',
    },
  };
  const meta = metaPackage({
    app: 'demo',
    version,
    depends: ['demo-app'],
    uci: 'demo-app',
    autoconf: ['path', 'enable'],
  });
  return [app, meta];
}

/**
 * Shares libdemo with the other app. Its version 2 leaves out a file and no longer needs libonce.
 */
function notes(feedVersion: FeedVersion): FeedPackage[] {
  const version = feedVersion === 1 ? '1.0-1' : '1.1-1';
  const app: FeedPackage = {
    name: 'notes-app',
    version,
    architecture: 'all',
    fields: {
      Depends: feedVersion === 1 ? 'libc, libdemo, libonce' : 'libc, libdemo',
      Section: 'utils',
    },
    files: {
      '/usr/bin/notes-app': program('notes-app', version),
      ...(feedVersion === 1 && { '/usr/share/notes-app/first.txt': 'only in version 1\n' }),
    },
    scripts: { postinst: DEFAULT_POSTINST, prerm: DEFAULT_PRERM },
  };
  return [app, metaPackage({ app: 'notes', version, depends: ['notes-app'] })];
}

interface Meta {
  app: string;
  version: string;
  depends: readonly string[];
  uci?: string;
  autoconf?: readonly string[];
}

/**
 * A meta package describes an app, as linkease/openwrt-app-meta's meta.mk writes it. One with
 * autoconf brings both scripts.
 */
function metaPackage({ app, version, depends, uci, autoconf }: Meta): FeedPackage {
  const [upstreamVersion, release] = version.split('-');
  const meta = {
    name: app,
    title: `${app.slice(0, 1).toUpperCase()}${app.slice(1)}`,
    entry: `/cgi-bin/luci/admin/services/${app}`,
    author: 'lab',
    website: `https://example.invalid/${app}`,
    version: upstreamVersion,
    release: Number(release),
    arch: [ARCHITECTURE],
    description: `${app} for tests`,
    ...(autoconf && { autoconf }),
    ...(uci && { uci }),
    ...(autoconf && { flags: ['entrysh'] }),
    tags: ['tool'],
    depends,
  };
  return {
    name: `app-meta-${app}`,
    version,
    architecture: 'all',
    fields: {
      Depends: ['libc', ...depends].join(', '),
      Source: `feeds/lab/app-meta-${app}`,
      License: 'MIT',
      Section: 'utils',
    },
    files: {
      [`/usr/lib/opkg/meta/${app}.json`]: `${JSON.stringify(meta)}\n`,
      [`/www/luci-static/resources/app-icons/${app}.png`]: { content: ICON },
      ...(autoconf && {
        [`/usr/libexec/istorea/${app}.sh`]: { mode: 0o755, content: CONFIG_SCRIPT },
        [`/usr/libexec/istoree/${app}.sh`]: { mode: 0o755, content: entryScript(app) },
      }),
    },
  };
}

/** Tells what it was given. */
const CONFIG_SCRIPT = `#!/bin/sh
echo "autoconf $ISTORE_AUTOCONF args=[$*]"
for name in CONF_DIR CACHE_DIR PUBLIC_DIR DL_DIR DONT_START; do
	eval "value=\\$ISTORE_$name"
	[ -z "$value" ] || echo "ISTORE_$name=$value"
done
`;

function entryScript(app: string): string {
  const status = {
    app,
    docker: false,
    running: true,
    deployed: true,
    web: ':8085',
    href: '',
    protocol: 'http',
    port: '8085',
  };
  return `#!/bin/sh
case "$1" in
	status) echo '${JSON.stringify(status)}' ;;
	start | stop) echo "${app} $1" ;;
	*) exit 1 ;;
esac
`;
}

/** One transparent pixel. */
const ICON = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
