import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import type { FeedPackage } from '../../device/feed-index.ts';
import { planOf } from '../preview/preview-answer.ts';
import { clientOf } from './client-of.ts';
import { MANAGERS, openStores, versionFor, type EitherStore, type Manager } from './open-stores.ts';

/** Of a feed that a person searches. */
const SEARCHED: FeedPackage[] = [
  described('filter', 'A package that is called so'),
  described('filter-plus', 'Begins with it'),
  described('dnsfilter', 'Has it inside'),
  described('app-meta-cleaner', 'Ad Filter'),
  described('sweeper', 'A daemon that can FILTER names, and ÄRGER; ads as well.'),
  described('other', 'Nothing of the kind: a.c, <b>bold</b>'),
  described('app-meta-photobox', 'Photo Box\n Keeps the pictures of all telephones.\n And films.'),
  described('app-meta-wrapped', 'A first line that is cut where the\n terminal ends, goes on.'),
  described('app-meta-films', 'Films and Series'),
  described('films', 'Plays what lies on the disks.'),
  {
    ...described('app-meta-house', 'Smart House'),
    fields: { Description: 'Smart House', Depends: 'libc, libhouse, house-daemon' },
  },
  described('libhouse', 'A library for houses.'),
  described('house-daemon', 'Switches lamps and heating.'),
  described('app-meta-adhome', 'Network-wide ads & trackers blocking.\n It has a second line.'),
];

function described(name: string, Description: string): FeedPackage {
  return { name, version: '1.0-1', architecture: 'all', fields: { Description } };
}

let stores: Record<Manager, EitherStore>;

beforeAll(async () => {
  stores = await openStores(SEARCHED);
  for (const manager of MANAGERS) {
    await stores[manager].run('install', { package: 'demo' });
    await stores[manager].run('install', { package: 'sweeper' });
  }
}, 60_000);
afterAll(async () => {
  for (const manager of MANAGERS) await stores[manager].close();
});

describe.each(MANAGERS)('%s finds', (manager) => {
  const { pageOf, namesOf, expectTexts } = clientOf(() => stores[manager]);

  test('the best fitting comes first: exact name, prefix, inside, title, description', async () => {
    expect(await namesOf({ q: 'filter' })).toEqual([
      ...['filter', 'filter-plus', 'dnsfilter', 'cleaner', 'sweeper'],
    ]);
  });

  test.each<[what: string, q: string, names: string[]]>([
    ['whatever the case of letters', 'FiLtEr names', ['sweeper']],
    ['beyond ASCII, too', 'ärger', ['sweeper']],
    ['in capitals, and written in two code points', 'A\u0308RGER', ['sweeper']],
    ['every word must occur', 'filter nothing', []],
    ['in any order, however often', ' names  filter filter ', ['sweeper']],
    ['no pattern is meant: a dot', 'a.c', ['other']],
    ['no pattern is meant: a star', 'f*r', []],
    ['no pattern is meant: a bracket', '(filter', []],
    ['markup is text', '<b>', ['other']],
    ['across name and description nothing matches', 'filterA', []],
    ['a NUL is a blank', 'filter\0names', ['sweeper']],
    ['half a surrogate is nothing', '\ud83d', []],
    ['the name of the meta package is the name of the app', 'app-meta-cleaner', ['cleaner']],
  ])('%s', async (_what, q, names) => {
    expect(await namesOf({ q })).toEqual(names);
  });

  test.each<[what: string, q: string, suggestion: string | undefined]>([
    ['a letter left out', 'fiter', 'filter'],
    ['two letters swapped, in a title of two words', 'smrat house', 'smart house'],
    ['a name in one word', 'photobax', 'photobox'],
    ['what finds something is left alone', 'filter', undefined],
    ['no word is near', 'zzzzzz', undefined],
    ['all words together find nothing', 'fiter lamps', undefined],
    ['four words that nothing has', 'smrat smatr houes hosue', undefined],
  ])('a search that finds nothing has a suggestion: %s', async (_what, q, suggestion) => {
    expect((await pageOf({ q, kind: 'all' })).suggestion).toBe(suggestion);
  });

  test('an app is one item under its own name, of the version that is offered', async () => {
    const { items } = await pageOf({ q: 'cleaner' });

    expect(items).toMatchObject([
      {
        name: 'cleaner',
        kind: 'app',
        title: 'Ad Filter',
        version: versionFor(manager, '1.0-1'),
        is_upgradable: false,
        description: 'Ad Filter',
        has_icon: false,
      },
    ]);
    // Of the real apk's index the folder is the name, the stand-in's has none.
    expect(manager === 'opkg' ? ['lab'] : ['feed', 'distfeeds.list:1']).toContain(items[0]?.feed);
    expect(items[0]?.download_bytes).toBeGreaterThan(100);
    expect(items[0]).not.toHaveProperty('installed_version');
    expect(await namesOf({ kind: 'package', q: 'cleaner' })).toEqual([]);
  });

  test('a description that is a sentence is no title', async () => {
    const [item] = (await pageOf({ q: 'adhome' })).items;

    expect(item?.title).toBe('adhome');
    expect(item?.description).toContain('ads & trackers blocking.');
  });

  test.each<[what: string, ...texts: [name: string, title: string, description: string]]>([
    [
      'beside a mere title its own package says what an app is',
      'films',
      'Films and Series',
      'Plays what lies on the disks.',
    ],
    [
      'without one the first that it needs and that is no library',
      'house',
      'Smart House',
      'Switches lamps and heating.',
    ],
  ])('%s', async (_what, ...[name, title, description]) => {
    await expectTexts({ name, title, description });
  });

  test('an installed app is described by its own meta file', async () => {
    const { items } = await pageOf({ state: 'installed' });

    expect(items).toMatchObject([
      {
        name: 'demo',
        title: 'Demo',
        description: 'demo for tests',
        tags: ['tool'],
        is_auto: false,
        is_held: false,
        is_system: false,
        has_icon: true,
      },
    ]);
    expect(items[0]?.installed_version).toBe(items[0]?.version);
    expect(items[0]?.time).toBeGreaterThan(1_700_000_000);
    expect(await namesOf({ q: 'demo for tests', kind: 'app' })).toEqual(['demo']);
    expect(await namesOf({ tag: 'tool' })).toEqual(['demo']);
  });

  test('what the firmware brought is said to be of the system, and nothing else', async () => {
    const { items } = await pageOf({ kind: 'all', state: 'installed' });

    // Of apk's, those whose lists of files were written in the same moment as libc's.
    const mayBe = manager === 'apk' ? ['base-files', 'busybox', 'libc'] : ['libc'];
    const ofSystem = items.filter((item) => item.is_system === true).map(({ name }) => name);
    expect(ofSystem).toContain('libc');
    expect(ofSystem.filter((name) => !mayBe.includes(name))).toEqual([]);
  });

  test('kind and state choose', async () => {
    const packages = await namesOf({ kind: 'package', state: 'installed' });

    expect(packages).toEqual(expect.arrayContaining(['demo-app', 'libc', 'libdemo', 'sweeper']));
    expect(packages.filter((name) => name.startsWith('app-meta-') || name === 'demo')).toEqual([]);
    expect(await namesOf({ kind: 'all', state: 'installed' })).toEqual(
      [...packages, 'demo'].sort(),
    );
    expect(await namesOf({ state: 'upgradable' })).toEqual([]);
    const [libdemo] = (await pageOf({ kind: 'package', q: 'libdemo' })).items;
    expect(libdemo).toMatchObject({ kind: 'package', is_auto: true });
  });
});

/** OpenWrt's builder writes all lines of a description as one for apk. */
describe('of several lines, which opkg has,', () => {
  const { expectTexts } = clientOf(() => stores.opkg);

  test.each<[what: string, ...texts: [name: string, title: string, description: string]]>([
    [
      'the first is the title',
      'photobox',
      'Photo Box',
      'Keeps the pictures of all telephones.\nAnd films.',
    ],
    [
      'the first is no title if the next one continues it',
      'wrapped',
      'wrapped',
      'A first line that is cut where the\nterminal ends, goes on.',
    ],
  ])('%s', async (_what, ...[name, title, description]) => {
    await expectTexts({ name, title, description });
  });
});

describe.each(MANAGERS)('%s lists', (manager) => {
  const { ask, pageOf, namesOf } = clientOf(() => stores[manager]);

  test('pages follow each other, and one beyond the end is empty', async () => {
    const all = await namesOf({ per_page: '200' });
    const { total } = await pageOf({ kind: 'all', per_page: '7' });

    expect(total).toBe(all.length);
    expect(all).toEqual([...all].sort());
    const pages: string[] = [];
    for (let page = 1; pages.length < total; page += 1) {
      pages.push(...(await namesOf({ per_page: '7', page: `${page}` })));
    }
    expect(pages).toEqual(all);
    expect(await pageOf({ kind: 'all', page: '999999999' })).toEqual({
      total,
      page: 999_999_999,
      per_page: 50,
      items: [],
      lists: { state: 'fresh', updated_at: expect.any(Number) as number },
    });
  });

  test('sorted by size the largest comes first, by time the newest', async () => {
    const bySize = (await pageOf({ kind: 'all', sort: 'size', per_page: '200' })).items;
    const sizes = bySize.map((item) => item.installed_bytes ?? item.download_bytes ?? 0);
    const byTime = (await pageOf({ kind: 'all', sort: 'time', per_page: '200' })).items;
    const times = byTime.map(({ time = 0 }) => time);

    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(times[0]).toBeGreaterThan(1_700_000_000);
    expect(await namesOf({ q: 'filter', sort: 'name' })).toEqual(
      ['filter', 'filter-plus', 'dnsfilter', 'cleaner', 'sweeper'].sort(),
    );
  });

  test('of an installed app the bytes are what its removal frees, and it is sorted by them', async () => {
    const plan = await planOf(stores[manager].daemon, 'remove', 'demo');
    const { items } = await pageOf({ kind: 'all', state: 'installed', sort: 'size' });
    const demo = items.find(({ name, kind }) => name === 'demo' && kind === 'app');

    expect(plan.removes.map(({ name }) => name)).toContain('demo-app');
    expect(demo?.installed_bytes).toBe(-plan.disk_bytes);
    expect(items[0]).toEqual(demo);
    const details = await stores[manager].daemon.get('admin/store/details?package=demo');
    expect(await details.json()).toMatchObject({ installed_bytes: -plan.disk_bytes });
  });

  test.each<[name: string, value: string]>([
    ['per_page', '201'],
    ['per_page', '0'],
    ['per_page', '-1'],
    ['per_page', '1e2'],
    ['per_page', ''],
    ['page', '0'],
    ['page', '1.5'],
    ['page', '99999999999999999999'],
    ['kind', 'apps'],
    ['kind', ''],
    ['state', 'gone'],
    ['sort', 'random'],
    ['q', 'x'.repeat(201)],
    ['q', 'a b c d e f g h i j k l m n o p q'],
    ['tag', 'x'.repeat(65)],
  ])('%s=%s is refused by name', async (name, value) => {
    const answer = await ask({ [name]: value });

    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { msg: string }).msg).toContain(name);
  });

  test('the entity tag differs per query, and spares the answer', async () => {
    const first = await ask({ q: 'no such thing' });
    const second = await ask({ q: 'nor this one' });
    const etag = first.headers.get('etag') ?? '';

    expect(etag).toMatch(/^"/);
    expect(second.headers.get('etag')).not.toBe(etag);
    expect((await ask({ q: 'no such thing' }, { 'if-none-match': etag })).status).toBe(304);
    expect((await ask({ q: 'nor this one' }, { 'if-none-match': etag })).status).toBe(200);
  });

  test('what is installed or removed is seen at once, and an icon with it', async () => {
    const { run, device } = stores[manager];
    const folder = join(device.root, 'www/luci-static/resources/app-icons');
    await mkdir(folder, { recursive: true });
    onTestFinished(() => rm(join(folder, 'filter.svg'), { force: true }));
    await writeFile(join(folder, 'filter.svg'), '<svg/>');

    await run('install', { package: 'filter' });
    const [there] = (await pageOf({ kind: 'package', q: 'filter' })).items;
    await run('remove', { package: 'filter' });
    const [gone] = (await pageOf({ kind: 'package', q: 'filter' })).items;

    expect(there).toMatchObject({ name: 'filter', has_icon: true, is_upgradable: false });
    expect(there?.installed_version).toBe(there?.version);
    expect(gone).not.toHaveProperty('installed_version');
  });
});
