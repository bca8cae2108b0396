import { afterAll, beforeAll, expect, test } from 'vitest';

import type { PackageListing, PackageSummary } from '../../../../src/package-management/listing.ts';
import { createApkDevice, type ApkDevice } from '../../../device/apk-device/apk-device.ts';
import { collect } from '../../../support/collect.ts';
import { summaryOf } from '../../../features/packages/summary-of.ts';
import { openApk } from '../open-apk.ts';

let device: ApkDevice;
let listing: PackageListing;

beforeAll(async () => {
  device = await createApkDevice({
    packages: [
      {
        name: 'full',
        version: '1.0-r1',
        description: 'Filters "names" {quickly}',
        licence: 'GPL-2.0',
        depends: ['libc>=1.0', '!virt-a'],
        provides: ['cmd:full=1.0-r1', 'filter'],
      },
      { name: 'alien', version: '1.0-r1', architecture: 'mips_24kc' },
    ],
    ...(process.env.APK_FULL !== undefined && { maker: process.env.APK_FULL }),
  });
  await device.apk('update');
  await device.apk('add', 'app-meta-demo');
  listing = openApk(device).listing;
});
afterAll(() => device.close());

test('everything that an index says of a package is given', async () => {
  expect(await collect(listing.read(['full', 'nosuch', '*']))).toEqual([
    {
      name: 'full',
      version: '1.0-r1',
      feed: expect.stringMatching(/^\w+$/) as string,
      section: '',
      description: 'Filters "names" {quickly}',
      tags: [],
      downloadBytes: expect.any(Number) as number,
      installedBytes: expect.any(Number) as number,
      depends: [['libc']],
      provides: ['cmd:full', 'filter'],
      conflicts: ['virt-a'],
      isEssential: false,
      homepage: expect.stringMatching(/^https?:/) as string,
      license: 'GPL-2.0',
      maintainer: expect.any(String) as string,
      time: expect.any(Number) as number,
    },
  ]);
});

test('all that the feeds offer is given, but nothing of another architecture', async () => {
  const names = (await collect(listing.read())).map(({ name }) => name);

  expect(names).toEqual(expect.arrayContaining(['full', 'demo-app', 'libdemo', 'busybox']));
  expect(names).not.toContain('alien');
});

test('a summary of everything says the same of each package, in fewer words', async () => {
  const summaries: PackageSummary[] = [];
  await listing.summarize((offer) => summaries.push(offer) > 0);

  const full = await collect(listing.read());
  expect(summaries.length).toBeGreaterThan(10);
  expect(inOrder(summaries)).toEqual(inOrder(full.map(summaryOf)));
  const app = summaries.find(({ name }) => name === 'app-meta-demo');
  expect(app?.depends).toContainEqual(['demo-app']);

  let count = 0;
  await listing.summarize(() => (count += 1) < 2);
  expect(count).toBe(2);
});

/** Lists are given in no order. */
function inOrder(summaries: readonly PackageSummary[]): PackageSummary[] {
  return summaries.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)));
}

function keyOf({ name, version, feed }: PackageSummary): string {
  return JSON.stringify([name, version, feed]);
}

test('whoever has read enough ends the reading', async () => {
  const names: string[] = [];
  for await (const { name } of listing.read()) {
    names.push(name);
    if (names.length === 2) break;
  }

  expect(names).toHaveLength(2);
});

test('the version changes with an index', async () => {
  const before = await listing.version();
  expect(await listing.version()).toBe(before);
  await device.apk('update');

  expect(await listing.version()).not.toBe(before);
});

test('of what is installed, the record of the device is given', async () => {
  const found = await collect(listing.readInstalled(['demo-app', 'nosuch']));

  expect(found).toMatchObject([
    { name: 'demo-app', license: 'MIT', depends: [['libc'], ['libdemo']] },
  ]);
  expect(await listing.record('demo-app')).toMatchObject({
    files: expect.arrayContaining(['/etc/init.d/demo-app', '/usr/bin/demo-app']) as string[],
    config: ['/etc/config/demo-app'],
  });
  expect((await listing.record('demo-app'))?.installedAt).toBeGreaterThan(1_700_000_000);
  expect(await listing.record('nosuch')).toBeUndefined();
});

test('without an apk that runs, an error says so', async () => {
  const alone = openApk(device, { PATH: '/nowhere' }).listing;

  await expect(collect(alone.read())).rejects.toThrow('cannot read what the feeds offer');
  await expect(alone.summarize(() => true)).rejects.toThrow('cannot read what the feeds offer');
});
