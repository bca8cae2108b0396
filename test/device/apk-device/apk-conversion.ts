import type { ApkScript } from '../../../packaging/apk.ts';
import type { ApkFeedPackage } from './apk-index.ts';
import type { FeedPackage } from '../feed-index.ts';
import { DEFAULT_POSTINST, DEFAULT_PRERM } from '../packages/package-parts.ts';

/**
 * The same package for apk as OpenWrt's builder makes it: versions get an `r` before the release,
 * `all` is `noarch`, a description is one line, relations are apk's, what is provided has the
 * package's version, the files of apps lie in `/lib/apk/meta`, and maintainer scripts become apk's.
 */
export function toApkPackage(source: FeedPackage): ApkFeedPackage {
  const { fields = {}, files, conffiles, listing, installedSizeBytes } = source;
  const version = toApkVersion(source.version);
  const conflicts = relationsOf(fields['Conflicts']).map((relation) => `!${relation}`);
  return {
    name: source.name,
    version,
    architecture: source.architecture === 'all' ? 'noarch' : source.architecture,
    depends: [...relationsOf(fields['Depends']), ...conflicts],
    provides: relationsOf(fields['Provides']).map((name) => `${name}=${version}`),
    replaces: relationsOf(fields['Replaces']),
    scripts: scriptsOf(source),
    ...(fields['Description'] !== undefined && {
      description: fields['Description'].replace(/\s+/g, ' '),
    }),
    ...(fields['License'] !== undefined && { licence: fields['License'] }),
    ...(fields['Source'] !== undefined && { origin: fields['Source'] }),
    ...(files && { files: moveMetaFiles(files) }),
    ...(conffiles && { conffiles }),
    ...(listing && { listing }),
    ...(installedSizeBytes !== undefined && { installedSizeBytes }),
  };
}

/** `1.0-1` is `1.0-r1`. */
export function toApkVersion(version: string): string {
  return version.replace(/-(\d+)$/, '-r$1');
}

function relationsOf(field: string | undefined): string[] {
  return (field ?? '')
    .split(',')
    .map((relation) => relation.trim())
    .filter((relation) => relation !== '')
    .map(toApkRelation);
}

const OPERATORS: Readonly<Record<string, string>> = {
  '>=': '>=',
  '<=': '<=',
  '=': '=',
  '>>': '>',
  '<<': '<',
};

function toApkRelation(relation: string): string {
  const [, name = relation, operator, version = ''] =
    /^(\S+) \(([<>=]+) (\S+)\)$/.exec(relation) ?? [];
  if (operator === undefined) return name;
  const known = OPERATORS[operator];
  if (known === undefined) throw new Error(`cannot put "${relation}" in apk's words`);
  return `${name}${known}${toApkVersion(version)}`;
}

type Files = NonNullable<FeedPackage['files']>;

function moveMetaFiles(files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([path, file]) => [
      path.replace(/^\/usr\/lib\/opkg\/meta\//, '/lib/apk/meta/'),
      file,
    ]),
  );
}

/**
 * With apk an upgrade runs no script of the old package, and the new one's install scripts with
 * PKG_UPGRADE set.
 */
function scriptsOf({ name, scripts = {} }: FeedPackage): Partial<Record<ApkScript, string>> {
  const install = bodyOf(scripts['postinst'], {
    name,
    default: [DEFAULT_POSTINST, 'default_postinst'],
    further: scripts['postinst-pkg'],
  });
  const removal = bodyOf(scripts['prerm'], {
    name,
    default: [DEFAULT_PRERM, 'default_prerm'],
    further: scripts['prerm-pkg'],
  });
  const { preinst, postrm } = scripts;
  return {
    ...(preinst !== undefined && { 'pre-install': preinst, 'pre-upgrade': inUpgrade(preinst) }),
    ...(install !== undefined && { 'post-install': install, 'post-upgrade': inUpgrade(install) }),
    ...(removal !== undefined && { 'pre-deinstall': removal }),
    ...(postrm !== undefined && { 'post-deinstall': postrm }),
  };
}

interface Body {
  name: string;
  /** The script that OpenWrt's builder for opkg puts in, and the function that it calls. */
  default: readonly [script: string, functionName: string];
  further: string | undefined;
}

function bodyOf(script: string | undefined, body: Body): string | undefined {
  const [defaultScript, functionName] = body.default;
  if (script !== defaultScript) return script;
  const further = (body.further ?? '').replace(/^#!.*\n/, '');
  return `#!/bin/sh
[ -s "\${IPKG_INSTROOT}/lib/functions.sh" ] || exit 0
. "\${IPKG_INSTROOT}/lib/functions.sh"
export root="\${IPKG_INSTROOT}"
export pkgname="${body.name}"
${functionName}
${further}`;
}

function inUpgrade(script: string): string {
  return script.replace(/^(#!.*\n)/, '$1export PKG_UPGRADE=1\n');
}
