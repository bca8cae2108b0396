import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import { createPages, type Query } from '../../../src/features/store/available.ts';
import { createViews } from '../../../src/features/store/store-views.ts';
import { createCatalog } from '../../../src/package-management/apps/catalog.ts';
import { createExpectedChanges } from '../../../src/package-management/transaction/progress.ts';
import type { PackageTools } from '../../../src/package-management/package-tools.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { nameFeeds } from '../../device/further-feeds.ts';
import { openHost } from '../../package-management/opkg/open-host.ts';

const ALL: Query = {
  ...{ q: '', kind: 'all', isProgramsOnly: false, isAskedOnly: false },
  ...{ state: 'all', tag: '', sort: 'name' },
};
const SILENT = { error: () => undefined, warn: () => undefined, info: () => undefined };

let device: Device;
let tools: Omit<PackageTools, 'containers'>;
let lists: string;

beforeAll(async () => {
  device = await createDevice();
  await device.opkg('update');
  await nameFeeds(device.root, ['late', 'endless']);
  lists = join(device.root, 'var/opkg-lists');
});
afterAll(() => device.close());
beforeEach(async () => {
  const { manager } = await openHost(device);
  tools = {
    manager,
    catalog: createCatalog({ manager, log: SILENT as never }),
    uciDir: '',
    expected: createExpectedChanges(),
    undo: {} as never,
    beforeChange: [],
    noUpgrades: { read: () => Promise.resolve(new Set()), set: () => Promise.resolve() },
    updateEveryHours: () => 0,
  };
});

function open(quietMs?: number): {
  views: ReturnType<typeof createViews>;
  released: Promise<void>;
} {
  let onRelease = (): void => undefined;
  const released = new Promise<void>((resolve) => (onRelease = resolve));
  const views = createViews({
    ...tools,
    icons: { version: () => Promise.resolve(''), read: () => Promise.resolve(new Set()) },
    menuEntry: () => Promise.resolve(undefined),
    release: onRelease,
    ...(quietMs !== undefined && { quietMs }),
  });
  onTestFinished(views.close);
  return { views, released };
}

test('who asks at the same time shares one reading of the lists', async () => {
  const { views } = open();

  const all = await Promise.all(Array.from({ length: 50 }, () => views.current()));

  expect(new Set(all.map(({ view }) => view)).size).toBe(1);
});

test('lists that changed are read again; after an installation they are not', async () => {
  const { views } = open();
  const first = (await views.current()).view;
  expect((await views.current()).view).toBe(first);

  await utimes(join(lists, 'lab'), 5, 5);
  const second = (await views.current()).view;
  await device.opkg('install', 'libdemo');
  await tools.catalog.refresh();
  const third = (await views.current()).view;

  expect(second.offered).not.toBe(first.offered);
  expect(third).not.toBe(second);
  expect(third.offered).toBe(second.offered);
  expect(third.installed.size).toBe(second.installed.size + 1);
});

test('a list that changes while it is read is seen by the next who asks', async () => {
  const { views } = open();
  const early = views.current();
  await writeFile(
    join(lists, 'late'),
    'Package: late\nVersion: 1\nArchitecture: all\nDescription: comes late\n\n',
  );

  const [, late] = await Promise.all([early, views.current()]);

  const names = createPages()(late.view, { ...ALL, q: 'late' }, { page: 1, perPage: 9 }).items;
  expect(names.map(({ name }) => name)).toEqual(['late']);
});

test('what nobody asks for any more is dropped', async () => {
  const { views, released } = open(20);
  const { view } = await views.current();

  await released;

  expect((await views.current()).view.offered).not.toBe(view.offered);
});

test('who asks in the moment in which what was kept is dropped is answered', async () => {
  const { views, released } = open(20);
  await views.current();
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const { catalog } = tools;
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  vi.spyOn(catalog, 'snapshot').mockImplementationOnce(async () => {
    arrive();
    await held;
    return catalog.snapshot();
  });

  const asked = views.current();
  await arrived;
  await Promise.race([released, delay(200)]);
  goOn();

  expect((await asked).view.offered.count).toBeGreaterThan(0);
});

test('a list is dropped also if what is installed could not be read after it', async () => {
  const { views, released } = open(20);
  vi.spyOn(tools.catalog, 'snapshot').mockRejectedValueOnce(new Error('no descriptor is left'));

  await expect(views.current()).rejects.toThrow('no descriptor is left');

  await released;
});

test('a list without end is read to a bound', async () => {
  const { views } = open();
  const paragraphs = Array.from(
    { length: 70_000 },
    (_, version) => `Package: again\nVersion: ${version}\nArchitecture: all\n\n`,
  );
  await writeFile(join(lists, 'endless'), paragraphs.join(''));
  onTestFinished(() => rm(join(lists, 'endless')));

  const { view } = await views.current();

  const [found] = createPages()(view, { ...ALL, q: 'again' }, { page: 1, perPage: 9 }).items;
  expect(Number(found?.version)).toBeGreaterThan(50_000);
  expect(Number(found?.version)).toBeLessThan(60_000);
});
