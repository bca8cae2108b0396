import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { createDevice, type Device } from '../../device/device.ts';
import type { Fault } from '../../device/feed.ts';
import { openHost, type OpkgHost } from './open-host.ts';

const NO_LIST = 'what it sent is not a package list';
const NOT_FETCHED = 'its list could not be fetched';
const DAMAGED = 'its list is damaged (unexpected end of file)';
const BAD_SIGNATURE = 'its signature is bad or missing';

/** Whether signatures are checked, which file goes wrong, how, and why the new list is refused. */
const FAULTS: { isSigned: boolean; file: string; fault: Fault; reason: string; code: string }[] = [
  { isSigned: false, file: 'Packages.gz', fault: 'html', reason: NO_LIST, code: 'damaged_package' },
  {
    isSigned: false,
    file: 'Packages.gz',
    fault: 'truncated',
    reason: DAMAGED,
    code: 'damaged_package',
  },
  {
    isSigned: false,
    file: 'Packages.gz',
    fault: 'missing',
    reason: NOT_FETCHED,
    code: 'download_failed',
  },
  {
    isSigned: false,
    file: 'Packages.gz',
    fault: 'closed',
    reason: NOT_FETCHED,
    code: 'download_failed',
  },
  { isSigned: true, file: 'Packages.gz', fault: 'html', reason: BAD_SIGNATURE, code: 'signature' },
  {
    isSigned: true,
    file: 'Packages.gz',
    fault: 'missing',
    reason: NOT_FETCHED,
    code: 'download_failed',
  },
  {
    isSigned: true,
    file: 'Packages.sig',
    fault: 'bad-signature',
    reason: BAD_SIGNATURE,
    code: 'signature',
  },
  { isSigned: true, file: 'Packages.sig', fault: 'html', reason: BAD_SIGNATURE, code: 'signature' },
];

describe.each([false, true])('where opkg checks signatures: %s', (isSigned) => {
  let device: Device;
  let host: OpkgHost;
  let folder: string;

  beforeAll(async () => {
    device = await createDevice({ isSigned });
    host = await openHost(device);
    folder = join(device.root, 'var/opkg-lists');
    await device.opkg('update');
  });

  afterEach(() => device.feed.behave());
  afterAll(() => device.close());

  test.each(FAULTS.filter((entry) => entry.isSigned === isSigned))(
    'a $file that is $fault keeps the old list, byte for byte',
    async ({ file, fault, reason, code }) => {
      const before = await contentOf(folder);
      device.feed.misbehave(file, fault);

      await host.manager.lists.backUp();
      await device.opkg('update');
      const failed = await host.manager.lists.checkFetched();

      expect(failed).toMatchObject([
        {
          feed: expect.objectContaining({ name: 'lab', url: device.feed.url }) as unknown,
          reason: expect.stringContaining(reason) as unknown,
          code,
        },
      ]);
      expect(await contentOf(folder)).toEqual(before);
    },
  );

  test('a list that is put back has the time at which it was fetched', async () => {
    const list = join(folder, 'lab');
    const yesterday = Math.floor(Date.now() / 1000) - 86_400;
    await utimes(list, yesterday, yesterday);
    device.feed.misbehave('Packages.gz', 'missing');

    await host.manager.lists.backUp();
    await device.opkg('update');
    await host.manager.lists.checkFetched();

    const [lab] = (await host.manager.feeds.read()).feeds;
    if (lab === undefined) throw new Error('there is no feed');
    expect(await host.manager.feeds.stateOf(lab)).toMatchObject({ updatedAt: yesterday });
  });

  test('a good new list is taken', async () => {
    device.publish(2);
    await host.manager.lists.backUp();
    await device.opkg('update');

    expect(await host.manager.lists.checkFetched()).toEqual([]);

    expect((await host.manager.offers(['demo-app'])).get('demo-app')).toEqual([
      { name: 'demo-app', version: '1.1-1' },
    ]);
  });

  test('of two feeds only the one that went wrong keeps its old list', async () => {
    await writeFile(
      join(device.root, 'etc/opkg/other.conf'),
      `src/gz gone ${device.feed.url}/gone\n`,
    );
    device.publish(1);
    await host.manager.lists.backUp();
    await device.opkg('update');

    const failed = await host.manager.lists.checkFetched();

    expect(failed.map(({ feed }) => feed.name)).toEqual(['gone']);
    expect((await host.manager.offers(['demo-app'])).get('demo-app')).toEqual([
      { name: 'demo-app', version: '1.0-1' },
    ]);
  });

  test('settling without having kept anything changes nothing', async () => {
    const before = await contentOf(folder);
    await host.manager.lists.forget();

    expect(await host.manager.lists.checkFetched()).toEqual([]);

    expect(await contentOf(folder)).toEqual(before);
  });
});

/** Where a plain list, which no checksum holds together, breaks off. */
const CUTS: [string, RegExp | undefined, string][] = [
  ['nothing', undefined, 'its list is damaged (nothing is left of it)'],
  ['a package without its file', /Filename:/, 'its list is damaged (a package without a file)'],
  [
    'half of the last file name',
    /(?<=Filename: .{4}).*(?![^]*Filename:)/,
    'its list is damaged (the last package is cut off)',
  ],
  [
    'half of a checksum',
    /(?<=SHA256sum: .{20})/,
    'its list is damaged (a checksum that is cut off)',
  ],
];

test.each(CUTS)(
  'a plain list that breaks off with %s keeps the old one',
  async (_, cut, reason) => {
    const device = await createDevice();
    onTestFinished(() => device.close());
    const { lists } = (await openHost(device)).manager;
    await writeFile(join(device.root, 'etc/opkg/distfeeds.conf'), `src lab ${device.feed.url}\n`);
    await device.opkg('update');
    const list = join(device.root, 'var/opkg-lists/lab');
    const before = await readFile(list, 'utf8');

    await lists.backUp();
    await writeFile(list, before.slice(0, cut === undefined ? 0 : before.search(cut)));
    expect((await lists.checkFetched()).map((failed) => failed.reason)).toEqual([reason]);

    expect(await readFile(list, 'utf8')).toBe(before);
  },
);

test('a daemon that finds the lists settled by the one before it says the same of them', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const { lists } = (await openHost(device)).manager;
  const folder = join(device.root, 'var/opkg-lists');
  await device.opkg('update');
  const before = await contentOf(folder);
  device.feed.misbehave('Packages.gz', 'html');
  await lists.backUp();
  await device.opkg('update');
  const bad = await readFile(join(folder, 'lab'));
  const failed = await lists.checkFetched();
  expect(failed.map(({ feed }) => feed.name)).toEqual(['lab']);
  expect(await lists.checkFetched()).toEqual(failed);

  // It went down before the list was back in its place.
  await writeFile(join(folder, 'lab'), bad);
  expect(await lists.checkFetched()).toEqual(failed);
  expect(await contentOf(folder)).toEqual(before);

  await lists.forget();
  expect(
    (await readdir(join(folder, '..'))).filter((name) => name.startsWith('opkg-lists')),
  ).toEqual(['opkg-lists']);
});

async function contentOf(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  return Object.fromEntries(
    await Promise.all(
      names.map(
        async (name) => [name, (await readFile(join(folder, name))).toString('base64')] as const,
      ),
    ),
  );
}
