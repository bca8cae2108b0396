import { mkdir, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import type {
  OfferedPackage,
  PackageListing,
  PackageSummary,
} from '../../../../src/package-management/listing.ts';
import { createDevice, type Device } from '../../../device/device.ts';
import { nameFeeds } from '../../../device/further-feeds.ts';
import { collect } from '../../../support/collect.ts';
import { summaryOf } from '../../../features/packages/summary-of.ts';
import { openHost } from '../open-host.ts';

let device: Device;
let listing: PackageListing;
let folder: string;

beforeAll(async () => {
  device = await createDevice();
  await device.opkg('update');
  await nameFeeds(device.root, FURTHER);
  await device.opkg('install', 'app-meta-demo');
  listing = (await openHost(device)).manager.listing;
  folder = join(device.root, 'var/opkg-lists');
});
afterAll(() => device.close());

const FURTHER = [
  'alien',
  'bomb',
  'damaged',
  'empty-lines',
  'garbage',
  'gone',
  'huge',
  'inner',
  'more',
  'new',
];

/** A list beside the device's own, for one test. */
async function addList(name: string, content: string | Buffer): Promise<void> {
  const file = join(folder, name);
  await writeFile(file, content);
  onTestFinished(() => rm(file));
}

async function read(...names: string[]): Promise<OfferedPackage[]> {
  return collect(listing.read(names));
}

const FULL = `Package: full
Version: 2:1.0~rc1-1
Depends: libc (>= 1.2), a | b, libdemo
Provides: virt, other
Conflicts: enemy, foe (<< 2)
License: GPL-2.0
Section: net
URL: https://full.invalid/
Tags: dns, filter
Architecture: all
Essential: yes
Installed-Size: 10240
Size: 2520
SourceDateEpoch: 1700000000
Maintainer: A <a@b.invalid>
Description:  Filters names.
 It is <b>quick</b>.
 .
 And small.

`;

test('everything that a list says of a package is given', async () => {
  await addList('more', gzipSync(FULL));

  expect(await read('full')).toEqual([
    {
      name: 'full',
      version: '2:1.0~rc1-1',
      architecture: 'all',
      feed: 'more',
      section: 'net',
      description: 'Filters names.\nIt is <b>quick</b>.\n\nAnd small.',
      tags: ['dns', 'filter'],
      downloadBytes: 2520,
      installedBytes: 10240,
      depends: [['libc'], ['a', 'b'], ['libdemo']],
      provides: ['virt', 'other'],
      conflicts: ['enemy', 'foe'],
      isEssential: true,
      homepage: 'https://full.invalid/',
      license: 'GPL-2.0',
      maintainer: 'A <a@b.invalid>',
      time: 1_700_000_000,
    },
  ]);
});

test('each version of each feed is given, but none of another architecture', async () => {
  await addList('more', FULL.replaceAll('full', 'libdemo').replace('Version: 2:', 'Version: '));
  await addList('alien', FULL.replaceAll('full', 'libdemo').replace('all\n', 'mips_24kc\n'));

  const found = await read('libdemo');

  expect(found.map(({ feed, version }) => [feed, version])).toEqual([
    ['lab', '1.0-1'],
    ['more', '1.0~rc1-1'],
  ]);
});

describe('a summary of everything says the same of each package, in fewer words', () => {
  const late = FULL.replace('full', 'late')
    .replace(/^(Section.*\n)/m, '')
    .replace('yes', 'yes\n ,');
  test.each<[what: string, content: string | Buffer]>([
    ['of a list as feeds have it', gzipSync(FULL)],
    ['in UTF-8', FULL.replace('Filters', '\u8def\u7531 \u00c4 \ud83d\ude00').repeat(2000)],
    ['in bytes that are no UTF-8', Buffer.from(FULL.replace('quick', 'qu\u00efck'), 'latin1')],
    ['with fields twice', `${FULL.trimEnd()}\nSection: late\nPackage: other\n more\n`],
    ['with other line ends', FULL.replaceAll('\n', '\r\n').repeat(3)],
    ['with blanks between', `\n \n${FULL}  \n\t\n\n${late}\n\n \n${late.trimEnd()}`],
    ['of apps', FULL.replace('full', 'app-meta-full')],
    ['with empty fields', FULL.replace('net', '').replace(' Filters names.\n', '\n')],
    ['with a dot', FULL.replace(/Description:[^]*/, 'Description: .\n')],
    ['with garbage', `Package\n: x\n:\n x\n\n${late}Size: 7\n\nPackage:\nVersion: 1\n`],
  ])('%s', async (_what, content) => {
    await addList('more', content);

    const summaries: PackageSummary[] = [];
    await listing.summarize((offer) => summaries.push(offer) > 0);

    const full = await collect(listing.read());
    expect(summaries.map(({ feed }) => feed)).toContain('more');
    expect(summaries.map(withoutArchitecture)).toEqual(full.map(summaryOf));
  });

  function withoutArchitecture(summary: PackageSummary): object {
    return { ...summary, architecture: undefined };
  }

  test('and ends when nobody wants more', async () => {
    let count = 0;
    await listing.summarize(() => (count += 1) < 2);

    expect(count).toBe(2);
  });
});

describe('of a list that is damaged, what stands before the fault is given', () => {
  const many = Array.from({ length: 2000 }, (_, index) =>
    FULL.replace('full', `cut-${index}`).replace('GPL-2.0', String(Math.sin(index))),
  ).join('');
  const noise = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 251));

  test.each<[what: string, content: string | Buffer]>([
    ['cut off', gzipSync(many).subarray(0, -20_000)],
    ['with noise behind', Buffer.concat([gzipSync(many).subarray(0, -20_000), noise])],
    ['without an end to a paragraph', `${many}Package: endless\n${'x'.repeat(600_000)}`],
  ])('%s', async (_what, content) => {
    await addList('damaged', content);

    const found = await read('cut-0', 'cut-1', 'cut-1999', 'endless');

    expect(found.map(({ name }) => name).slice(0, 2)).toEqual(['cut-0', 'cut-1']);
    expect(found.map(({ name }) => name)).not.toContain('endless');
  });

  test.each<[what: string, content: string | Buffer]>([
    ['noise', noise],
    ['a page', '<html>\n\n<p>Package: log-in</p>\n'],
    ['nothing', ''],
    ['a name that is none', FULL.replace('full', '../../etc/passwd')],
    ['no version', FULL.replace(/Version.*\n/, '')],
  ])('%s is no list', async (_what, content) => {
    await addList('garbage', content);

    const found = await collect(listing.read());

    expect(found.filter(({ feed }) => feed === 'garbage')).toEqual([]);
    expect(found.length).toBeGreaterThan(10);
  });
});

test('what a list says is cut to what is of use', async () => {
  await addList(
    'huge',
    FULL.replace('Filters names.', 'd'.repeat(100_000))
      .replace('GPL-2.0', 'l'.repeat(9999))
      .replace('virt,', 'v, '.repeat(9999))
      .replace('10240', '-5')
      .replace('2520', '9'.repeat(40)),
  );

  const [found] = await read('full');

  expect(found?.description.length).toBe(4000);
  expect(found?.license.length).toBe(300);
  expect(found?.provides.length).toBe(500);
  expect([found?.installedBytes, found?.downloadBytes]).toEqual([0, 0]);
});

test('a list that unpacks to more than a list can be is given up', async () => {
  const paragraph = FULL.replace('Filters', 'f'.repeat(60_000));
  await addList('bomb', gzipSync(paragraph.repeat(3000), { level: 1 }));

  let count = 0;
  for await (const { feed } of listing.read()) if (feed === 'bomb') count += 1;

  expect(count).toBeGreaterThan(100);
  expect(count).toBeLessThan(2500);
}, 30_000);

test('a list of millions of empty lines holds nobody up', async () => {
  await addList('empty-lines', gzipSync(Buffer.alloc(50_000_000, ' \n'), { level: 1 }));

  const found = await collect(listing.read(['libdemo']));

  expect(found.map(({ feed }) => feed)).toEqual(['lab']);
}, 30_000);

test('a link to nothing and a folder among the lists are passed over', async () => {
  await symlink('/nowhere', join(folder, 'gone'));
  await mkdir(join(folder, 'inner'));
  onTestFinished(async () => {
    await rm(join(folder, 'gone'));
    await rm(join(folder, 'inner'), { recursive: true });
  });

  expect((await read('libdemo')).map(({ feed }) => feed)).toEqual(['lab']);
});

test('the version changes with a list, and only with one', async () => {
  const before = await listing.version();
  expect(await listing.version()).toBe(before);

  await utimes(join(folder, 'lab'), 1, 1);
  const touched = await listing.version();
  await addList('new', '');

  expect(touched).not.toBe(before);
  expect(await listing.version()).not.toBe(touched);
});

test('of what is installed, the records of the device are given', async () => {
  const [described, ...others] = await collect(
    listing.readInstalled(['demo-app', 'nosuch', '../status']),
  );

  expect(others).toEqual([]);
  expect(described).toMatchObject({ name: 'demo-app', license: 'MIT', section: 'utils' });
});

test('files and configuration of an installed package are on record', async () => {
  expect(await listing.record('demo-app')).toMatchObject({
    files: expect.arrayContaining(['/etc/init.d/demo-app', '/usr/bin/demo-app']) as string[],
    config: ['/etc/config/demo-app'],
    installedAt: expect.any(Number) as number,
  });
  expect(await listing.record('nosuch')).toBeUndefined();
});

test('what a list of files says is no way out of the device', async () => {
  const list = join(device.root, 'usr/lib/opkg/info/demo-app.list');
  const info = await device.read('usr/lib/opkg/info/demo-app.list');
  onTestFinished(() => writeFile(list, info ?? ''));
  await writeFile(
    list,
    '/usr/bin/demo-app\n/../../etc/passwd\nrelative\n/a//b\n/./c\n/nul\0\n/ok\t1\n',
  );

  expect((await listing.record('demo-app'))?.files).toEqual(['/usr/bin/demo-app', '/ok']);
  await truncate(list, 5 * 1024 ** 2);
  expect((await listing.record('demo-app'))?.files).toEqual([]);
});
