import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { PackageFile } from '../../packaging/package-files.ts';
import { toApkPackage, toApkVersion } from '../device/apk-device/apk-conversion.ts';
import { createApk } from '../device/apk-device/apk.ts';
import { createApkFeedFiles, publicKey } from '../device/apk-device/apk-index.ts';
import { BASE_SYSTEM } from '../device/apk-device/apk-root.ts';
import { createFeedFiles, type FeedPackage } from '../device/feed-index.ts';
import { createIpk } from '../device/ipk.ts';
import { DEFAULT_POSTINST, program } from '../device/packages/package-parts.ts';
import type { FeedVersion } from '../device/packages/packages.ts';
import { daemonPackage, nodePackage } from './daemon-package.ts';

export type Manager = 'opkg' | 'apk';

/** What the jobs are about: one package of many files that needs another one. */
export const APP = 'power-app';
export const LIBRARY = 'power-library';
/** A package that only a file brings. */
export const SENT = 'power-sent';

const FILES = 24;
const FILE_BYTES = 64 * 1024;

export function versionText(manager: Manager, version: FeedVersion): string {
  return manager === 'opkg' ? `${version}.0-1` : toApkVersion(`${version}.0-1`);
}

/** The packages of the feed in either version. */
function powerPackages(version: FeedVersion): FeedPackage[] {
  const daemon = [daemonPackage(version), nodePackage(version)];
  return [bulky(APP, version, { Depends: LIBRARY }), bulky(LIBRARY, version), ...daemon];
}

/** Lays out on this machine what the guest serves: it has no time to pack it. */
export async function writeFeeds(folder: string, manager: Manager): Promise<void> {
  for (const version of [1, 2] as const) {
    const packages = powerPackages(version);
    const files =
      manager === 'opkg'
        ? createFeedFiles(packages)
        : createApkFeedFiles([...BASE_SYSTEM, ...packages.map(toApkPackage)]);
    await writeFiles(join(folder, String(version)), files);
  }
  const sent = bulky(SENT, 1);
  const { fileName, bytes } = manager === 'opkg' ? createIpk(sent) : createApk(toApkPackage(sent));
  await writeFiles(join(folder, 'sent'), new Map([[fileName, bytes]]));
  await writeFile(join(folder, 'key.pem'), publicKey());
}

async function writeFiles(folder: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
}

function bulky(
  name: string,
  version: FeedVersion,
  fields: Readonly<Record<string, string>> = {},
): FeedPackage {
  const numbers = Array.from({ length: FILES }, (_, index) => index);
  return {
    name,
    version: `${version}.0-1`,
    architecture: 'all',
    fields,
    files: {
      [`/etc/config/${name}`]: `config power 'main'\n`,
      [`/usr/bin/${name}`]: program(name, `${version}.0-1`),
      ...Object.fromEntries(
        numbers.map((number) => [`/usr/share/${name}/${number}`, content(name, version, number)]),
      ),
    },
    conffiles: [`/etc/config/${name}`],
    scripts: { postinst: DEFAULT_POSTINST },
  };
}

function content(name: string, version: FeedVersion, number: number): string {
  const line = `${name} ${version} ${number}\n`;
  return line.repeat(Math.ceil(FILE_BYTES / line.length));
}

/** How the files of a package are on the disk, against what it brings. */
export interface FilesFound {
  whole: number;
  /** Paths of what is there with another content, such as none or zeros. */
  damaged: string[];
  missing: string[];
}

/** @param version the one whose files are looked for */
export async function findFiles(
  root: string,
  name: string,
  version: FeedVersion,
): Promise<FilesFound> {
  const source = [...powerPackages(version), bulky(SENT, 1)].find((each) => each.name === name);
  const found: FilesFound = { whole: 0, damaged: [], missing: [] };
  for (const [path, file] of Object.entries(source?.files ?? {})) {
    const expected = textOf(file);
    const actual = await readFile(join(root, path), 'utf8').catch(() => undefined);
    if (actual === undefined) found.missing.push(path);
    else if (actual === expected) found.whole += 1;
    else found.damaged.push(path);
  }
  return found;
}

function textOf(file: PackageFile): string | undefined {
  if (typeof file === 'string') return file;
  return 'content' in file ? file.content.toString() : undefined;
}
