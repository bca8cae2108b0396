import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { beforeAll, expect, test } from 'vitest';

import { isSignedBy, parseUsign } from '../../src/device/usign.ts';
import { readAdb } from '../../src/package-management/apk/package-file/adb-reader.ts';
import { readPackageFile } from '../../src/package-management/apk/package-file/apk-file.ts';
import { runCommand } from '../device/command.ts';
import { REPOSITORY } from '../source-tree.ts';
import { createWorks, filesIn, isSignedWith, readThirdFile, type Works } from './released.ts';

const { version: VERSION } = JSON.parse(
  await readFile(join(REPOSITORY, 'package.json'), 'utf8'),
) as { version: string };
const OPKG_FEED = '24.10/x86_64';
const APK_FEED = '25.12/x86_64';

let works: Works;
let files: Map<string, Buffer>;

beforeAll(async () => {
  works = await createWorks();
  expect(await works.release('first')).toMatchObject({ code: 0 });
  files = await filesIn(join(works.folder, 'first'));
  return () => works.close();
});

function textOf(path: string, among = files): string {
  const content = among.get(path);
  if (content === undefined) throw new Error(`no ${path}`);
  return content.toString();
}

const keyNames = (kind: '.pem' | '', among = files): string[] =>
  [...among.keys()].filter(
    (path) => path.startsWith('keys/') && path.endsWith('.pem') === (kind !== ''),
  );

test('a release is feeds for opkg and apk by release and architecture, the Debian package, keys, checksums and what is inside', () => {
  expect([...files.keys()].filter((path) => path.startsWith(OPKG_FEED))).toEqual(
    [
      'Packages',
      'Packages.gz',
      'Packages.sig',
      `depotd-keyring_${VERSION}-r1_all.ipk`,
      `depotd_${VERSION}-r1_all.ipk`,
      `luci-app-depotd_${VERSION}-r1_all.ipk`,
      `luci-i18n-depotd-zh-cn_${VERSION}-r1_all.ipk`,
      `luci-i18n-depotd-zh-tw_${VERSION}-r1_all.ipk`,
    ].map((name) => `${OPKG_FEED}/${name}`),
  );
  expect([...files.keys()].filter((path) => path.startsWith('25.12/'))).toEqual(
    [
      `depotd-${VERSION}-r1.apk`,
      `depotd-keyring-${VERSION}-r1.apk`,
      'depotd-node-20.20.2-r1.apk',
      `luci-app-depotd-${VERSION}-r1.apk`,
      `luci-i18n-depotd-zh-cn-${VERSION}-r1.apk`,
      `luci-i18n-depotd-zh-tw-${VERSION}-r1.apk`,
      'packages.adb',
    ].map((name) => `${APK_FEED}/${name}`),
  );
  expect([...files.keys()]).toEqual(
    expect.arrayContaining([
      '24.10/aarch64_cortex-a53/Packages.gz',
      'SHA256SUMS',
      'SHA256SUMS.sig',
      'THIRD-PARTY-LICENSES.txt',
      `depotd_${VERSION}_all.deb`,
      'licences.txt',
      'sbom.cdx.json',
      'subscribe.sh',
    ]),
  );
});

test('two releases, at another time and elsewhere, are the same bytes but for the signatures', async () => {
  await works.release('second', { env: { TZ: 'Asia/Tokyo', LANG: 'C', HOME: '/nonexistent' } });

  const second = await filesIn(join(works.folder, 'second'));

  expect([...second.keys()]).toEqual([...files.keys()]);
  const differing = [...files].filter(
    ([path, content]) => second.get(path)?.equals(content) !== true,
  );
  // apk's signatures are drawn anew each time, and the checksums are of what has them.
  expect(differing.map(([path]) => path).filter((path) => !/\.(?:apk|adb)$/.test(path))).toEqual([
    'SHA256SUMS',
    'SHA256SUMS.sig',
  ]);
  for (const [path, content] of files) {
    if (!/\.(?:apk|adb)$/.test(path)) continue;
    const other = second.get(path) ?? Buffer.alloc(0);
    expect(other, path).toHaveLength(content.length);
    expect(readThirdFile(other).unsigned.equals(readThirdFile(content).unsigned), path).toBe(true);
  }
});

test('the checksums are those of every other file, and signed', async () => {
  const check = await runCommand(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], {
    cwd: join(works.folder, 'first'),
  });
  expect(check).toMatchObject({ code: 0 });
  expect(textOf('SHA256SUMS').split('\n')).toHaveLength(files.size - 2 + 1);
  expect(isSignedForOpkg('SHA256SUMS', 'SHA256SUMS.sig')).toBe(true);
});

test('the list for opkg is signed, and names each package with its size and checksum', () => {
  const list = textOf(`${OPKG_FEED}/Packages`);
  expect(gunzipSync(files.get(`${OPKG_FEED}/Packages.gz`) ?? '').toString()).toBe(list);
  expect(isSignedForOpkg(`${OPKG_FEED}/Packages`, `${OPKG_FEED}/Packages.sig`)).toBe(true);
  const stanzas = list.trimEnd().split('\n\n');
  expect(stanzas).toHaveLength(5);
  for (const stanza of stanzas) {
    const [, fileName = ''] = /^Filename: (.*)$/m.exec(stanza) ?? [];
    const content = files.get(`${OPKG_FEED}/${fileName}`) ?? Buffer.alloc(0);
    expect(stanza).toContain(`\nSize: ${content.length}\n`);
    expect(stanza).toContain(`\nSHA256sum: ${sha256(content).toString('hex')}\n`);
  }
});

test('the index for apk is signed and names each package with its size and identity, which is signed itself', () => {
  const pem = textOf(keyNames('.pem')[0] ?? '');
  const index = readThirdFile(files.get(`${APK_FEED}/packages.adb`) ?? Buffer.alloc(0));
  expect(index.schema).toBe('indx');
  expect(isSignedWith(index, pem)).toBe(true);
  const listed = [...readAdb(index.database).objects(2)];
  expect(listed.map((item) => item.text(1))).toEqual([
    'depotd',
    'depotd-keyring',
    'depotd-node',
    'luci-app-depotd',
    'luci-i18n-depotd-zh-cn',
    'luci-i18n-depotd-zh-tw',
  ]);
  for (const item of listed) {
    const content = files.get(`${APK_FEED}/${item.text(1)}-${item.text(2)}.apk`) ?? Buffer.alloc(0);
    const apk = readThirdFile(content);
    expect(isSignedWith(apk, pem)).toBe(true);
    expect(item.number(13)).toBe(content.length);
    expect(index.database.includes(sha256(apk.database))).toBe(true);
  }
});

test('a byte that was changed in a package or in an index is no longer signed', () => {
  const pem = textOf(keyNames('.pem')[0] ?? '');
  for (const name of ['packages.adb', `depotd-${VERSION}-r1.apk`]) {
    const file = readThirdFile(files.get(`${APK_FEED}/${name}`) ?? Buffer.alloc(0));
    file.database.writeUInt8((file.database[40] ?? 0) ^ 1, 40);
    expect(isSignedWith(file, pem), name).toBe(false);
  }
});

test('a package of the third format holds what the one of the second does, and its files are root\u2019s', async () => {
  const path = join(works.folder, 'first', APK_FEED, `depotd-${VERSION}-r1.apk`);
  const apk = await readPackageFile(path, 10_000_000);
  expect(apk).toMatchObject({ name: 'depotd', version: `${VERSION}-r1`, origin: 'depotd' });
  expect(apk.depends).toContainEqual(['node']);
  expect(apk.files).toEqual(
    expect.arrayContaining(['etc/init.d/depotd', 'usr/lib/depotd/depotd.cjs', 'www/cgi-bin/panel']),
  );
});

test('the bill of materials names each package of the lock file that is in the programs, and no other', async () => {
  const bill = JSON.parse(textOf('sbom.cdx.json')) as {
    bomFormat: string;
    metadata: { timestamp: string };
    components: { name: string; group?: string; version: string; purl: string }[];
  };
  const notices = await readFile(join(REPOSITORY, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
  const bundled = (notices.split('\n\n')[1] ?? '').split('\n').map((line) => line.split(' (')[0]);
  const npm = bill.components.filter(({ purl }) => purl.startsWith('pkg:npm/'));

  expect(bill.bomFormat).toBe('CycloneDX');
  expect(bill.metadata.timestamp).toBe('2024-04-05T19:34:38Z');
  expect(
    npm
      .map(
        ({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name} ${version}`,
      )
      .sort(),
  ).toEqual(bundled.sort());
  expect(bill.components.filter((component) => !npm.includes(component))).toMatchObject([
    { name: 'node', version: '20.20.2', purl: 'pkg:generic/node@20.20.2?arch=x86_64' },
  ]);
  expect(textOf('licences.txt')).toContain('human-signals\t8.0.1\tApache-2.0\n');
});

test('keys are made once, for their owner alone, and never written over', async () => {
  const { mode } = await stat(join(works.keys, 'usign.key'));
  expect(mode & 0o777).toBe(0o600);
  expect(await readFile(join(works.keys, 'apk.pem'), 'utf8')).toMatch(
    /^-----BEGIN EC PRIVATE KEY-----\n/,
  );
  expect(await works.makeKeys(works.keys)).toMatchObject({
    code: 1,
    stderr: `depotd: cannot make keys in ${works.keys}: there is usign.key already\n`,
  });
  for (const content of files.values()) expect(content.includes('PRIVATE KEY')).toBe(false);
});

test('a key follows another: the keyring brings the next one, apk\u2019s files have both, and then the old one goes', async () => {
  const keys = join(works.folder, 'rotating');
  await works.makeKeys(keys);
  await works.makeKeys(join(keys, 'next'));
  await works.release('both', { keys });
  const both = await filesIn(join(works.folder, 'both'));
  const pems = keyNames('.pem', both).map((name) => textOf(name, both));
  const index = readThirdFile(both.get(`${APK_FEED}/packages.adb`) ?? Buffer.alloc(0));

  expect(pems.map((pem) => isSignedWith(index, pem))).toEqual([true, true]);
  expect(await keysIn('both')).toHaveLength(2);

  await rm(join(keys, 'usign.key'));
  await rm(join(keys, 'apk.pem'));
  for (const name of ['usign.key', 'apk.pem']) {
    await rename(join(keys, 'next', name), join(keys, name));
  }
  await rm(join(keys, 'next'), { recursive: true });
  await works.release('after', { keys });
  const after = await filesIn(join(works.folder, 'after'));
  const [pem = ''] = keyNames('.pem', after).map((name) => textOf(name, after));

  expect(pems).toContain(pem);
  expect(await keysIn('after')).toHaveLength(1);
});

test('a folder with something in it, missing keys and an odd address are refused before anything is written', async () => {
  await mkdir(join(works.folder, 'taken'));
  await writeFile(join(works.folder, 'taken/file'), '');
  expect(await works.release('taken')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^depotd: cannot release to .*taken: it is not empty\n$/,
    ) as string,
  });
  expect(await works.release('none', { keys: '/nonexistent' })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ENOENT') as string,
  });
  expect(await works.release('none', { args: ['--url', "http://a/';reboot"] })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('an address without special characters') as string,
  });
  await expect(stat(join(works.folder, 'none'))).rejects.toThrow('ENOENT');
});

/** The keys that the keyring of a release brings to a device with apk. */
async function keysIn(name: string): Promise<string[]> {
  const path = join(works.folder, name, APK_FEED, `depotd-keyring-${VERSION}-r1.apk`);
  const { files: brought } = await readPackageFile(path, 100_000);
  return brought.filter((file) => file.startsWith('etc/apk/keys/'));
}

function isSignedForOpkg(path: string, signaturePath: string): boolean {
  const key = parseUsign('key', textOf(keyNames('')[0] ?? ''));
  const signature = parseUsign('signature', textOf(signaturePath));
  if (key === undefined || signature === undefined) return false;
  return isSignedBy(files.get(path) ?? Buffer.alloc(0), signature, key);
}

function sha256(content: Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}
