import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { planOf, type PlanAnswer } from '../preview/preview-answer.ts';
import { clientOf } from './client-of.ts';
import { LUCI_PACKAGES } from './luci-packages.ts';
import { MANAGERS, openStoreOf, type EitherStore } from './open-stores.ts';

describe.each(MANAGERS)('an app of LuCI, %s,', (manager) => {
  let store: EitherStore;
  beforeAll(async () => {
    store = await openStoreOf(manager, LUCI_PACKAGES);
  }, 60_000);
  afterAll(() => store.close());

  const { namesOf } = clientOf(() => store);
  const install = (name: string, more: Record<string, string> = {}): Promise<unknown> =>
    store.run('install', { package: name, ...more });
  const reasonsOf = async (operation: string, name: string): Promise<unknown> => {
    const plan = await planOf(store.daemon, operation, name);
    return Object.fromEntries(
      [...plan.installs, ...plan.removes].map((change) => [change.name, change.reason]),
    );
  };
  const setLanguage = async (language: string): Promise<void> => {
    const folder = join(store.device.root, 'etc/config');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'luci'), `config core 'main'\n\toption lang '${language}'\n`);
  };

  test('comes in the language of LuCI, and goes with it', async () => {
    await setLanguage('zh_cn');
    expect(await reasonsOf('install', 'luci-app-transmission')).toMatchObject({
      'luci-app-transmission': 'asked',
      'luci-i18n-transmission-zh-cn': 'translation',
    });
    await install('luci-app-transmission');
    expect(await namesOf({ q: 'luci-i18n-transmission', state: 'installed' })).toEqual([
      'luci-i18n-transmission-zh-cn',
    ]);

    expect(await reasonsOf('remove', 'luci-app-transmission')).toMatchObject({
      'luci-i18n-transmission-zh-cn': 'orphan',
    });
    await store.run('remove', { package: 'luci-app-transmission' });
    expect(await namesOf({ q: 'transmission', state: 'installed' })).toEqual([]);
  });

  test('comes without a translation if its owner says so', async () => {
    await setLanguage('zh_cn');
    const query = 'operation=install&package=luci-app-transmission&translations=0';
    const answer = await store.daemon.get(`admin/store/plan?${query}`);
    const { installs } = (await answer.json()) as PlanAnswer;
    expect(installs.map(({ name }) => name)).toContain('luci-app-transmission');
    expect(installs.map(({ reason }) => reason)).not.toContain('translation');

    await install('luci-app-transmission', { translations: '0' });
    expect(await namesOf({ q: 'luci-i18n-', state: 'installed' })).toEqual([]);
  });

  test('comes in each installed language where browsers choose, and a new language brings all', async () => {
    await setLanguage('auto');
    await install('luci-app-transmission');
    expect(await namesOf({ q: 'luci-i18n-', state: 'installed' })).toEqual([]);

    await install('luci-i18n-base-de');
    expect(await namesOf({ q: 'luci-i18n-', state: 'installed' })).toEqual([
      ...['luci-i18n-base-de', 'luci-i18n-transmission-de'],
    ]);
  });
});
