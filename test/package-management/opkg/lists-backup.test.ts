import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { createDevice, type Device } from '../../device/device.ts';
import type { Fault } from '../../device/feed.ts';
import { openHost, type OpkgHost } from './open-host.ts';

/** Why a new list is refused. */
const NO_LIST = { reason: 'what it sent is not a package list', code: 'damaged_package' };
const DAMAGED = { reason: 'its list is damaged (unexpected end of file)', code: 'damaged_package' };
const NOT_FETCHED = { reason: 'its list could not be fetched', code: 'download_failed' };
const BAD_SIGNATURE = { reason: 'its signature is bad or missing', code: 'signature' };

type Refusal = typeof NO_LIST;
const FAULTS: [isSigned: boolean, file: string, fault: Fault, refusal: Refusal][] = [
  [false, 'Packages.gz', 'html', NO_LIST],
  [false, 'Packages.gz', 'truncated', DAMAGED],
  [false, 'Packages.gz', 'missing', NOT_FETCHED],
  [false, 'Packages.gz', 'closed', NOT_FETCHED],
  [true, 'Packages.gz', 'html', BAD_SIGNATURE],
  [true, 'Packages.gz', 'missing', NOT_FETCHED],
  [true, 'Packages.sig', 'bad-signature', BAD_SIGNATURE],
  [true, 'Packages.sig', 'html', BAD_SIGNATURE],
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

  test.each(FAULTS.filter(([isFor]) => isFor === isSigned).map(([, ...fault]) => fault))(
    'a %s that is %s keeps the old list, byte for byte',
    async (file, fault, { reason, code }) => {
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

  test('a new list has the time at which it was fetched, whatever its server says of it', async () => {
    await host.manager.lists.backUp();
    await device.opkg('update');
    const list = join(folder, 'lab');
    const aYearAgo = Math.floor(Date.now() / 1000) - 365 * 86_400;
    // As GNU's wget leaves it.
    await utimes(list, aYearAgo, aYearAgo);

    expect(await host.manager.lists.checkFetched()).toEqual([]);

    const { updatedAt = 0 } = await host.manager.feeds.stateOf({ name: 'lab', url: '' });
    expect(updatedAt - aYearAgo).toBeGreaterThan(364 * 86_400);
  });

  test('a good new list is taken, though the clock was set back while it was fetched', async () => {
    await host.manager.lists.backUp();
    await device.opkg('update');
    const [copy = ''] = (await readdir(join(folder, '..'))).filter((name) => /\.kept-/.test(name));
    // What came before the list is later than the list by that clock.
    await utimes(join(folder, '..', copy, '.kept-at'), new Date(), new Date());

    expect(await host.manager.lists.checkFetched()).toEqual([]);
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

describe('a plain list that breaks off', () => {
  let device: Device;
  let host: OpkgHost;
  beforeAll(async () => {
    device = await createDevice();
    host = await openHost(device);
    await writeFile(join(device.root, 'etc/opkg/distfeeds.conf'), `src lab ${device.feed.url}\n`);
    await device.opkg('update');
  });
  afterAll(() => device.close());

  test.each(CUTS)('with %s keeps the old one', async (_, cut, reason) => {
    const { lists } = host.manager;
    const list = join(device.root, 'var/opkg-lists/lab');
    const before = await readFile(list, 'utf8');

    await lists.backUp();
    await writeFile(list, before.slice(0, cut === undefined ? 0 : before.search(cut)));
    expect((await lists.checkFetched()).map((failed) => failed.reason)).toEqual([reason]);

    expect(await readFile(list, 'utf8')).toBe(before);
  });
});

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
