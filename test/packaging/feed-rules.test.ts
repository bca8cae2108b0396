import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { depotdApk } from '../../packaging/apk-packages.ts';
import type { PackageContents } from '../../packaging/ipk.ts';
import { luciPackages } from '../../packaging/luci-packages.ts';
import { toEntries } from '../../packaging/package-files.ts';
import { nodePackage, openwrtPackage } from '../../packaging/packages.ts';
import { FEEDS } from '../../packaging/release/architectures.ts';
import { keyringPackage } from '../../packaging/release/keyring.ts';
import { readKeys } from '../../packaging/release/keys.ts';
import { isSignedBy, parseUsign } from '../../src/device/usign.ts';
import { readAdb } from '../../src/package-management/apk/package-file/adb-reader.ts';
import { runCommand } from '../device/command.ts';
import { REPOSITORY } from '../source-tree.ts';
import {
  createWorks,
  filesIn,
  isSignedWith,
  readThirdFile,
  serve,
  type Works,
} from './released.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/**
 * What feeds of others got wrong, and nobody saw until devices were affected: the checks that owfeed
 * makes of a feed before it is published, as far as they concern one that has its own packages only.
 */

const RELEASE = { version: '1.0', modifiedAt: 1_700_000_000 };
/** LuCI cuts what is longer (openwrt/luci#8561). */
const MOST_DESCRIPTION_BYTES = 512;
/** Each subscriber fetches it whole with each update. */
const MOST_INDEX_BYTES = 2 ** 20;
const APK_VERSION =
  /^\d+(?:\.\d+)*[a-z]?(?:_(?:alpha|beta|pre|rc|cvs|svn|git|hg|p)\d*)*(?:~[0-9a-f]+)?(?:-r\d+)?$/;

let works: Works;
let tree: Map<string, Buffer>;
let packages: PackageContents[];

beforeAll(async () => {
  works = await createWorks();
  expect(await works.release('feed')).toMatchObject({ code: 0 });
  tree = await filesIn(join(works.folder, 'feed'));
  const keys = readKeys(works.keys);
  const node = { version: '20.20.2', architecture: 'x86_64', depends: ['libc'], licence: '' };
  packages = [
    openwrtPackage(RELEASE),
    ...luciPackages(RELEASE),
    keyringPackage(RELEASE, { manager: 'opkg', keys }),
    keyringPackage(RELEASE, { manager: 'apk', keys }),
    nodePackage({ ...node, content: Buffer.from('x'), libraries: [] }, RELEASE),
  ];
  return () => works.close();
});

describe('what is in the packages', () => {
  test('a description is shown whole', () => {
    for (const { control } of packages) {
      expect(Buffer.byteLength(control['Description'] ?? '')).toBeLessThan(MOST_DESCRIPTION_BYTES);
      expect(control['Description']).not.toBe(undefined);
    }
  });

  test('each configuration file is on the list of those that a firmware upgrade keeps', () => {
    const found = packages.flatMap(({ files, conffiles = [] }) =>
      Object.keys(files).filter(
        (path) => path.startsWith('/etc/config/') && !conffiles.includes(path),
      ),
    );
    expect(found).toEqual([]);
    const [depotd] = packages;
    const { files = {} } = depotd === undefined ? {} : depotdApk(depotd).contents;
    expect(files['/lib/apk/packages/depotd.conffiles']).toBe('/etc/config/depotd\n');
    expect(files['/lib/apk/packages/depotd.conffiles_static']).toMatch(
      /^\/etc\/config\/depotd [0-9a-f]{64}\n$/,
    );
  });

  test('JSON is JSON: rpcd and LuCI pass over what is not, and say nothing', () => {
    const found = packages.flatMap((contents) => textsOf(contents, /\.json$/));
    expect(found.length).toBeGreaterThan(2);
    for (const [path, text] of found) expect(() => void JSON.parse(text), path).not.toThrow();
  });

  test('each shell script can be read by sh: what runs once is gone, whether it worked or not', async () => {
    const folder = await temporaryFolder();
    const found = packages.flatMap((contents) => [
      ...textsOf(contents, /./).filter(
        ([path, text]) => path.includes('/uci-defaults/') || /^#!\/bin\/(?:ba|a)?sh\b/.test(text),
      ),
      ...Object.entries(contents.scripts ?? {}),
    ]);
    expect(found.length).toBeGreaterThan(10);
    for (const [path, text] of found) {
      await writeFile(join(folder, 'script'), text);
      expect(await runCommand(['sh', '-n', join(folder, 'script')]), path).toMatchObject({
        code: 0,
      });
    }
  });

  test('translations are compiled, and no package brings their sources', () => {
    expect(packages.flatMap((contents) => textsOf(contents, /\.po$/))).toEqual([]);
    expect(packages.flatMap((contents) => textsOf(contents, /\.lmo$/))).not.toEqual([]);
  });
});

describe('what is in the feeds', () => {
  test('there is one for each release and architecture, and each has every package', () => {
    const sorted = (manager: string): string[][] =>
      FEEDS.filter((feed) => feed.manager === manager).map((feed) =>
        listedIn(`${feed.release}/${feed.architecture}`).map(({ name }) => name),
      );
    const made = new Set(packages.map(({ control }) => control['Package'] ?? ''));
    const own = [...made].filter((name) => name !== 'depotd-node').sort();
    expect(sorted('opkg')).toEqual(Array(15).fill(own));
    expect(sorted('apk').filter((names) => names.length > 0)).toEqual([
      [...own, 'depotd-node'].sort(),
    ]);
  });

  test('what an index names lies beside it, of the size that it says, for its architecture, in a version that apk can order', () => {
    for (const { folder, isApk, architecture } of feeds()) {
      for (const { name, version, kind, bytes, fileName } of listedIn(folder)) {
        const file = tree.get(`${folder}/${fileName}`);
        expect(file, `${folder}/${fileName}`).toHaveLength(bytes);
        expect([isApk ? 'noarch' : 'all', architecture], name).toContain(kind);
        expect(version).toMatch(APK_VERSION);
      }
    }
  });

  test('each index is small, in the compression that devices read, and signed with the published key; so is each package of apk', () => {
    const names = [...tree.keys()].filter((path) => path.startsWith('keys/'));
    const pem = String(tree.get(names.find((path) => path.endsWith('.pem')) ?? ''));
    const usign = parseUsign(
      'key',
      String(tree.get(names.find((path) => !path.endsWith('.pem')) ?? '')),
    );
    for (const { folder, isApk } of feeds()) {
      const raw = (name: string): Buffer => tree.get(`${folder}/${name}`) ?? Buffer.alloc(0);
      expect(raw(isApk ? 'packages.adb' : 'Packages').length).toBeLessThan(MOST_INDEX_BYTES);
      if (isApk) {
        const signed = [...tree.keys()].filter(
          (path) => path.startsWith(`${folder}/`) && /\.(?:apk|adb)$/.test(path),
        );
        for (const path of signed) {
          const file = tree.get(path) ?? Buffer.alloc(0);
          expect(file.toString('latin1', 0, 4), path).toBe('ADBd');
          expect(isSignedWith(readThirdFile(file), pem), path).toBe(true);
        }
      } else {
        expect(gunzipSync(raw('Packages.gz')).equals(raw('Packages')), folder).toBe(true);
        const signature = parseUsign('signature', String(raw('Packages.sig')));
        if (signature === undefined || usign === undefined) throw new Error(`unsigned: ${folder}`);
        expect(isSignedBy(raw('Packages'), signature, usign), folder).toBe(true);
      }
    }
  });

  test('no key takes the place of one of OpenWrt\u2019s, and no name is one that a host of pages leaves out or writes otherwise', () => {
    for (const path of tree.keys()) {
      expect(path).not.toMatch(/^keys\/openwrt/);
      for (const name of path.split('/')) expect(name).toMatch(/^[A-Za-z0-9][\w.+-]*$/);
    }
  });
});

test('the lines by hand in the manual write what subscribe.sh writes', async () => {
  const { url, close } = await serve(join(works.folder, 'feed'));
  onTestFinished(close);
  const manual = await readFile(join(REPOSITORY, 'docs/openwrt.md'), 'utf8');
  const [, opkg = '', apk = ''] = /# 24\.10\n([^#]*)# 25\.12\n([^`]*)```/.exec(manual) ?? [];
  const published = [...tree.keys()].filter((path) => path.startsWith('keys/'));
  for (const lines of [opkg, apk]) {
    const isApk = lines === apk;
    const release = isApk ? '25.12' : '24.10';
    const key = published.find((path) => path.endsWith('.pem') === isApk)?.slice('keys/'.length);
    const [byHand, byScript] = await Promise.all([emptyRoot(isApk), emptyRoot(isApk)]);
    const script = lines
      .replaceAll('URL', url)
      .replaceAll('ARCH', 'x86_64')
      .replaceAll(/\bID\b|NAME\.pem/g, key ?? '')
      .replaceAll(/(-O |>)\//g, `$1${byHand}/`);

    expect(await runCommand(['sh', '-ec', script])).toMatchObject({ code: 0 });

    await writeFile(
      join(byScript, 'etc/openwrt_release'),
      `DISTRIB_RELEASE='${release}.0'\nDISTRIB_ARCH='x86_64'\n`,
    );
    const env = { ...process.env, IPKG_INSTROOT: byScript };
    await runCommand(['sh', join(works.folder, 'feed/subscribe.sh'), url], { env });
    await rm(join(byScript, 'etc/openwrt_release'));
    const [mine, its] = [await writtenIn(byHand), await writtenIn(byScript)];
    expect(mine).toEqual(its);
    expect(Object.keys(mine)).toHaveLength(3);
  }
});

interface Listed {
  name: string;
  version: string;
  kind: string;
  bytes: number;
  fileName: string;
}

function feeds(): { folder: string; isApk: boolean; architecture: string }[] {
  return FEEDS.map(({ release, architecture, manager }) => ({
    folder: `${release}/${architecture}`,
    isApk: manager === 'apk',
    architecture,
  })).filter(({ folder }) => listedIn(folder).length > 0);
}

/** What the index in a folder names, in the order of its names; nothing if there is none. */
function listedIn(folder: string): Listed[] {
  const adb = tree.get(`${folder}/packages.adb`);
  if (adb !== undefined) {
    return [...readAdb(readThirdFile(adb).database).objects(2)].map((item) => {
      const [name = '', version = '', kind = ''] = [item.text(1), item.text(2), item.text(5)];
      const fileName = `${name}-${version}.apk`;
      return { name, version, kind, bytes: item.number(13) ?? 0, fileName };
    });
  }
  const list = String(tree.get(`${folder}/Packages`) ?? '').trimEnd();
  return list
    .split('\n\n')
    .filter((stanza) => stanza !== '')
    .map((stanza) => {
      const field = (name: string): string =>
        new RegExp(`^${name}: (.*)$`, 'm').exec(stanza)?.[1] ?? '';
      return {
        name: field('Package'),
        version: field('Version'),
        kind: field('Architecture'),
        bytes: Number(field('Size')),
        fileName: field('Filename'),
      };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function textsOf({ files }: PackageContents, path: RegExp): [path: string, text: string][] {
  return toEntries(files).flatMap(({ name, content }) =>
    content !== undefined && path.test(name) ? [[name, content.toString()]] : [],
  );
}

async function emptyRoot(isApk: boolean): Promise<string> {
  const root = await temporaryFolder();
  const folders = ['etc/opkg/keys', 'etc/apk/keys', 'etc/apk/repositories.d', 'lib/upgrade/keep.d'];
  const paths = [...folders, ...(isApk ? ['lib/apk/db'] : [])].map((path) => join(root, path));
  await runCommand(['mkdir', '-p', ...paths]);
  return root;
}

/** Files by path; of the list of what is kept the lines, whose order says nothing. */
async function writtenIn(root: string): Promise<Record<string, string[]>> {
  const files = await filesIn(root);
  return Object.fromEntries(
    [...files].map(([path, content]) => [path, content.toString().split('\n').sort()]),
  );
}
