import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import {
  nameFeeds,
  readEntries,
  readFeeds,
} from '../../../../src/package-management/apk/feeds/feed-lines.ts';
import { parseUpdate } from '../../../../src/package-management/apk/feeds/lists.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-feeds-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('each address is a feed, by the end of its address; other files are none of apk’s', async () => {
  await writeFile(
    join(folder, 'distfeeds.list'),
    '# a comment\nhttps://a/packages.adb\n\nndx https://b/packages.adb\n@tag https://c/packages.adb\n',
  );
  await writeFile(join(folder, 'customfeeds.list'), 'set V=25.12\nv3 ${V}/x\n/mnt/feed/p.adb\n');
  await writeFile(join(folder, 'distfeeds.list.bak'), 'garbage\n');

  expect(await readFeeds(folder)).toEqual({
    feeds: [
      { name: 'V', url: '${V}/x', tag: '' },
      { name: 'feed', url: '/mnt/feed/p.adb', tag: '' },
      { name: 'a', url: 'https://a/packages.adb', tag: '' },
      { name: 'b', url: 'https://b/packages.adb', tag: '' },
      { name: 'c', url: 'https://c/packages.adb', tag: 'tag' },
    ],
    garbage: [],
  });
});

test.each([
  ['<html>', '"<html>" is no feed'],
  ['src/gz packages https://a', '"src/gz" is no feed'],
  ['ndx', 'it has no address'],
  ['@tag', 'it has no address'],
])('"%s" is told with file and line', async (line, reason) => {
  await writeFile(join(folder, 'x.list'), `https://a/packages.adb\n${line}\n`);

  expect((await readFeeds(folder)).garbage).toEqual([
    { feed: { name: 'x.list:2', url: line }, reason },
  ]);
});

test.each([
  ['https://a/packages.adb', ''],
  ['@edge https://a/packages.adb', 'edge'],
  ['ndx https://a/packages.adb', ''],
  ['@edge v3 https://a', 'edge'],
  ['/mnt/feed/packages.adb', ''],
  ['${MIRROR}/packages.adb', ''],
])('"%s" can be switched off, and on again', async (line, tag) => {
  await writeFile(join(folder, 'x.list'), `# ${line}\n`);

  const { entries, garbage } = await readEntries(folder);
  const url = line.split(' ').at(-1);
  expect([entries, garbage]).toMatchObject([[{ url, tag, isEnabled: false }], []]);
  expect((await readFeeds(folder)).feeds).toEqual([]);
});

test.each(['# add your feeds here', '# see https://a/packages.adb', '# /etc', '# @edge', '#'])(
  '"%s" is a comment',
  async (line) => {
    await writeFile(join(folder, 'x.list'), `${line}\n`);

    expect(await readEntries(folder)).toEqual({ entries: [], garbage: [] });
  },
);

test('a list that cannot be read is told by its name', async () => {
  await mkdir(join(folder, 'x.list'));

  expect(await readFeeds(folder)).toEqual({
    feeds: [],
    garbage: [
      {
        feed: { name: 'x.list:1', url: 'x.list' },
        reason: 'it is no file, or larger than 1048576 bytes',
      },
    ],
  });
});

test('without a folder there are no feeds', async () => {
  expect(await readFeeds(join(folder, 'absent'))).toEqual({ feeds: [], garbage: [] });
});

/** As apk 3.0.5 prints it on a terminal, with wget(1). */
test('an update says which feed failed, and why', () => {
  const output = [
    ' [http://a/packages.adb]',
    'ERROR: wget: exited with error 8',
    'WARNING: updating and opening http://b/packages.adb: unexpected end of file',
    'WARNING: updating http://c/packages.adb: UNTRUSTED signature',
    'WARNING: updating http://d/packages.adb: file format is invalid or inconsistent',
    'WARNING: updating http://e/packages.adb: No such file or directory',
    '1 unavailable, 3 stale; 28 distinct packages available',
  ].join('\r\n');

  expect(parseUpdate(output)).toEqual([
    {
      url: 'http://b/packages.adb',
      reason: 'the server answers with an error (unexpected end of file)',
      code: 'download_failed',
    },
    { url: 'http://c/packages.adb', reason: 'UNTRUSTED signature', code: 'signature' },
    {
      url: 'http://d/packages.adb',
      reason: 'file format is invalid or inconsistent',
      code: 'damaged_package',
    },
    {
      url: 'http://e/packages.adb',
      reason: 'No such file or directory',
      code: 'download_failed',
    },
  ]);
});

/** As apk 3.0.5 prints it of a list with CRLF: the carriage return belongs to the address. */
test('an update says of a list that was edited on Windows what is wrong with it', () => {
  const output =
    'ERROR: wget: exited with error 8\r\n' +
    'WARNING: updating and opening http://a/packages.adb\r/x86_64/APKINDEX.tar.gz: ' +
    'unexpected end of file\r\n';

  expect(parseUpdate(output)).toEqual([
    {
      url: 'http://a/packages.adb',
      reason:
        'its line in /etc/apk/repositories.d ends with a carriage return, as Windows writes it ' +
        '(unexpected end of file)',
      code: 'download_failed',
    },
  ]);
});

test('feeds are told apart by as much of their address as that needs', () => {
  const at = 'https://downloads.openwrt.org/releases/25.12.4';
  const urls = [
    `${at}/targets/x86/64/packages/packages.adb`,
    `${at}/packages/x86_64/base/packages.adb`,
    `${at}/packages/x86_64/packages/packages.adb`,
  ];
  const feeds = urls.map((url) => ({ url, ownName: undefined }));
  expect(nameFeeds(feeds)).toEqual(['64-packages', 'base', 'x86_64-packages']);
  expect(nameFeeds([...feeds, { url: 'https://a/x', ownName: 'base' }])).toEqual([
    '64-packages',
    'x86_64-base',
    'x86_64-packages',
    'base',
  ]);
});
