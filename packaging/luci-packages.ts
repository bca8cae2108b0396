import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageContents } from './ipk.ts';
import { createLmo } from './lmo.ts';
import type { PackageFiles } from './package-files.ts';
import { DEFAULT_SCRIPTS, licence, openwrtContents, REPOSITORY, type Release } from './packages.ts';
import { parsePoFile } from './po-file.ts';

/** depotd inside LuCI: a menu entry, its views and the access group; and their translations. */

const SOURCES = join(REPOSITORY, 'packaging/openwrt/luci-app-depotd');

interface Language {
  /** Folder below po/, named as LuCI names its own. */
  folder: string;
  /** In file names; in UCI with `_` for `-`. */
  code: string;
  /** As LuCI's settings show it. */
  name: string;
}

const LANGUAGES: readonly Language[] = [
  { folder: 'zh_Hans', code: 'zh-cn', name: '简体中文 (Chinese Simplified)' },
  { folder: 'zh_Hant', code: 'zh-tw', name: '繁體中文 (Chinese Traditional)' },
];

export function luciPackages(release: Release): PackageContents[] {
  return [appPackage(release), ...LANGUAGES.map((language) => languagePackage(language, release))];
}

function appPackage(release: Release): PackageContents {
  const files: PackageFiles = {
    ...filesBelow('htdocs', '/www'),
    ...filesBelow('root', ''),
    ...licence('luci-app-depotd'),
  };
  return luciPackage(release, {
    name: 'luci-app-depotd',
    depends: 'libc, luci-base, depotd',
    description: 'depotd in LuCI: System → Apps (depotd), with its page and its settings.',
    files,
  });
}

function languagePackage({ folder, code, name }: Language, release: Release): PackageContents {
  const catalogue = createLmo(parsePoFile(readSource(`po/${folder}/depotd.po`)));
  const option = `luci.languages.${code.replace('-', '_')}`;
  const addLanguage = `uci set ${option}='${name}'; uci commit luci\n`;
  return luciPackage(release, {
    name: `luci-i18n-depotd-${code}`,
    depends: 'libc, luci-app-depotd',
    description: `Translation of luci-app-depotd: ${name}.`,
    files: {
      [`/etc/uci-defaults/luci-i18n-depotd-${code}`]: addLanguage,
      [`/usr/lib/lua/luci/i18n/depotd.${code}.lmo`]: { content: catalogue },
      ...licence(`luci-i18n-depotd-${code}`),
    },
  });
}

function luciPackage(
  release: Release,
  fields: { name: string; depends: string; description: string; files: PackageFiles },
): PackageContents {
  return openwrtContents(release, {
    ...fields,
    section: 'luci',
    scripts: {
      ...DEFAULT_SCRIPTS,
      'postinst-pkg': readSource('postinst-pkg'),
      postrm: readSource('postrm'),
    },
  });
}

function filesBelow(folder: string, target: string): PackageFiles {
  const entries = readdirSync(join(SOURCES, folder), { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(SOURCES, folder).length));
  return Object.fromEntries(
    names.sort().map((name) => [`${target}${name}`, readSource(`${folder}${name}`)]),
  );
}

function readSource(path: string): string {
  return readFileSync(join(SOURCES, path), 'utf8');
}
