import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { planOf } from '../preview/preview-answer.ts';
import { clientOf } from './client-of.ts';
import { LUCI_PACKAGES } from './luci-packages.ts';
import { MANAGERS, openStoreOf, type EitherStore } from './open-stores.ts';

describe.each(MANAGERS)('an app of a stock OpenWrt, %s', (manager) => {
  let store: EitherStore;
  beforeAll(async () => {
    store = await openStoreOf(manager, LUCI_PACKAGES);
  }, 60_000);
  afterAll(() => store.close());

  const { pageOf, namesOf, ask } = clientOf(() => store);
  const install = (name: string): Promise<unknown> => store.run('install', { package: name });
  const detailsOf = async (name: string, kind = 'app'): Promise<Record<string, unknown>> =>
    (await (await ask({ package: name, kind }, {}, 'details')).json()) as Record<string, unknown>;
  test('is in the first list under a title that people know', async () => {
    const { items } = await pageOf({});

    expect(Object.fromEntries(items.map(({ name, title }) => [name, title]))).toMatchObject({
      'luci-app-transmission': 'Transmission',
      'luci-app-adblock-fast': 'AdBlock Fast',
      'luci-app-hd-idle': 'Hd idle',
      'luci-app-oldie': 'Oldie',
      cleaner: 'Cleaner',
      even: 'Even',
    });
    const [shown] = items.filter(({ name }) => name === 'luci-app-transmission');
    expect(shown).toMatchObject({
      ...{ kind: 'app', tags: ['downloads'] },
      description: 'Fetches and shares files with others.',
    });
    expect(shown).not.toHaveProperty('entry');
  });

  test('is no app beside one whose meta package brings it', async () => {
    const { items } = await pageOf({ kind: 'all' });
    const kinds = Object.fromEntries(items.map(({ name, kind }) => [name, kind]));

    expect(kinds).toMatchObject({ 'luci-app-cleaner': 'package', 'luci-app-odd': 'package' });
    expect(items.find(({ name }) => name === 'luci-app-odd')?.title).toBe('luci-app-odd');
  });

  test('programs are found without what is there for others alone', async () => {
    const all = await namesOf({ kind: 'package', per_page: '200' });
    const programs = await namesOf({ kind: 'package', programs: '1', per_page: '200' });
    const others = all.filter((name) => !programs.includes(name));

    expect(programs).toContain('transmission');
    expect(others).toEqual(
      expect.arrayContaining(['libwanted', 'kmod-tun', 'tunnel-dev', 'luci-i18n-base-de']),
    );
  });

  test('is still none when that one is installed', async () => {
    await install('even');
    const { items } = await pageOf({ kind: 'app', state: 'installed' });

    expect(items.map(({ name }) => name)).toContain('even');
    expect(items.map(({ name }) => name)).not.toContain('luci-app-odd');
    expect(await detailsOf('luci-app-odd', 'package')).toMatchObject({
      ...{ kind: 'package', title: 'luci-app-odd' },
    });
  });

  test('is installed, and says where its page is and what it is called there', async () => {
    await install('luci-app-transmission');
    const { items } = await pageOf({ kind: 'app', state: 'installed' });

    expect(items.find(({ name }) => name === 'luci-app-transmission')).toMatchObject({
      title: 'Transmission Client',
      entry: 'admin/services/transmission',
    });
    const details = await detailsOf('luci-app-transmission');
    expect(details).toMatchObject({ kind: 'app', services: ['transmission'] });
    expect(await detailsOf('luci-app-transmission', 'package')).toEqual(details);
    expect(details).not.toHaveProperty('is_running');
  });

  test('of LuCI before its menu files says so, too', async () => {
    await install('luci-app-oldie');

    expect(await detailsOf('luci-app-oldie')).toMatchObject({
      title: 'Old Things',
      entry: 'admin/services/oldthings',
    });
  });

  test.each([
    ['luci-app-shares', 'Network Shares', 'admin/nas/shares'],
    ['luci-app-tunnels', 'Secret Tunnels', 'admin/vpn/tunnels'],
    ['luci-app-boxes', 'Boxes of All Kinds', 'admin/docker'],
  ])('in a menu of several, or with one of its own, has its name: %s', async (...given) => {
    const [name, title, entry] = given;
    await install(name);

    expect(await detailsOf(name)).toMatchObject({ title, entry });
  });

  test('goes with what came with it, and the size says so', async () => {
    await install('luci-app-transmission');
    const { daemon } = store;
    const removal = await planOf(daemon, 'remove', 'luci-app-transmission');
    expect(removal.removes.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['luci-app-transmission', 'transmission', 'libwanted']),
    );
    const { items } = await pageOf({ q: 'transmission', kind: 'app' });
    expect(items[0]?.installed_bytes).toBe(-removal.disk_bytes);

    await store.run('remove', { package: 'luci-app-transmission' });
    expect(await namesOf({ q: 'transmission', state: 'installed' })).toEqual([]);
  });
});
