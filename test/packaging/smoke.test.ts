import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { createWorks, filesIn, type Works } from './released.ts';
import { logInAt } from './smoke-owner.ts';
import { startApk, startOpkg, type Subscriber } from './subscriber.ts';

/**
 * A feed as owners get it, and the package managers as devices have them: OPKG and APK name the
 * real ones, USIGN the program that opkg has signatures checked with.
 */
const { OPKG, APK, USIGN } = process.env;

/** Of one test: it makes up to four releases, with a daemon started twice. */
const OWNER = { timeout: 180_000 };

let works: Works;
beforeAll(async () => {
  works = await createWorks();
  return () => works.close();
});

describe.runIf(OPKG !== undefined && USIGN !== undefined)('24.10 with opkg', OWNER, () => {
  test('subscribe, install signed, log in, install an app, upgrade by the manager under a task, remove: nothing is left', async () => {
    const on = await startOpkg(works);
    const before = await filesIn(on.root);
    expect(await on.subscribe()).toMatchObject({ code: 0 });
    expect(await on.run('update')).toMatchObject({ code: 0 });

    const install = await on.run('install', 'depotd-keyring', 'luci-app-depotd');
    expect(install).toMatchObject({ code: 0 });
    expect(await on.installed()).toEqual(['depotd', 'depotd-keyring', 'luci-app-depotd']);

    const owner = await logInAt(on);
    await owner.run('install', { package: 'demo' });
    const held = await owner.startHeldTask();

    await on.publish('99.0');
    expect(await on.run('update')).toMatchObject({ code: 0 });
    expect(await on.run('upgrade', 'depotd')).toMatchObject({ code: 0 });
    expect(await on.status()).toContain('Package: depotd\nVersion: 99.0-r1\n');
    await owner.restart();
    expect(await owner.goOn(held)).toBe('done');
    await owner.run('remove', { package: 'demo' });
    await owner.leave();

    expect(await on.run('remove', 'luci-app-depotd', 'depotd', 'depotd-keyring')).toMatchObject({
      code: 0,
    });
    expect(await on.subscribe('--undo')).toMatchObject({ code: 0 });
    expect(await on.left(before)).toEqual([]);
  });

  test.each(['list', 'package', 'signature', 'key'])('a wrong %s is refused', async (what) => {
    const on = await startOpkg(works);
    await on.subscribe();
    if (what !== 'package') {
      await on.spoil(what);
      await on.run('update');
      expect((await on.run('install', 'depotd')).code).not.toBe(0);
    } else {
      await on.run('update');
      await on.spoil(what);
      expect((await on.run('install', 'depotd')).code).not.toBe(0);
    }
    expect(await on.installed()).toEqual([]);
  });

  test('a key that was followed by another no longer counts once the keyring says so', async () => {
    await changesKeys(await startOpkg(works), 'install');
  });
});

describe.runIf(APK !== undefined)('25.12 with apk', OWNER, () => {
  test('subscribe, install without --allow-untrusted, log in, install an app, upgrade under a task, remove: nothing is left', async () => {
    const on = await startApk(works);
    const before = await filesIn(on.root);
    expect(await on.subscribe()).toMatchObject({ code: 0 });
    expect(await on.run('update')).toMatchObject({ code: 0 });

    const add = await on.run('add', 'depotd-keyring', 'luci-app-depotd');
    expect(add).toMatchObject({ code: 0 });
    expect(await on.installed()).toEqual([
      'depotd',
      'depotd-keyring',
      'depotd-node',
      'luci-app-depotd',
    ]);
    expect((await on.run('audit', '--system')).stdout).toBe('');

    const owner = await logInAt(on);
    await owner.run('install', { package: 'demo' });
    const held = await owner.startHeldTask();

    await on.publish('99.0');
    expect(await on.run('update')).toMatchObject({ code: 0 });
    expect(await on.run('upgrade')).toMatchObject({ code: 0 });
    expect(await on.status()).toContain('P:depotd\nV:99.0-r1\n');
    await owner.restart();
    expect(await owner.goOn(held)).toBe('done');
    await owner.run('remove', { package: 'demo' });
    await owner.leave();

    expect(await on.run('del', 'luci-app-depotd', 'depotd-keyring')).toMatchObject({ code: 0 });
    expect(await on.subscribe('--undo')).toMatchObject({ code: 0 });
    expect(await on.left(before)).toEqual([]);
  });

  test.each(['list', 'package', 'key'])('a wrong %s is refused', async (what) => {
    const on = await startApk(works);
    await on.subscribe();
    if (what !== 'package') await on.spoil(what);
    await on.run('update');
    if (what === 'package') await on.spoil(what);

    expect((await on.run('add', 'depotd')).code).not.toBe(0);

    // What it needs may be there by then.
    expect(await on.installed()).not.toContain('depotd');
  });

  test('a file of the release installs by itself for whoever has the key, and for nobody else', async () => {
    const on = await startApk(works);
    const [name = ''] = (await readdir(join(on.served, '25.12/x86_64'))).filter((file) =>
      file.startsWith('depotd-keyring'),
    );
    const file = join(on.served, '25.12/x86_64', name);
    expect((await on.run('add', file)).code).not.toBe(0);

    await on.subscribe();

    expect(await on.run('add', file)).toMatchObject({ code: 0 });
  });

  test('a key that was followed by another no longer counts once the keyring says so', async () => {
    await changesKeys(await startApk(works), 'add');
  });
});

async function changesKeys(on: Subscriber, install: 'install' | 'add'): Promise<void> {
  const keys = await on.nextKey();
  await on.publish('2.0', keys);
  await on.subscribe();
  await on.run('update');
  expect(await on.run(install, 'depotd-keyring')).toMatchObject({ code: 0 });
  expect(await on.keys()).toHaveLength(2);

  for (const file of ['usign.key', 'apk.pem']) {
    await cp(join(keys, 'next', file), join(keys, file));
  }
  await rm(join(keys, 'next'), { recursive: true });
  await on.publish('3.0', keys);
  expect(await on.run('update')).toMatchObject({ code: 0 });
  expect(await on.run('upgrade', 'depotd-keyring')).toMatchObject({ code: 0 });
  expect(await on.keys()).toHaveLength(1);

  await on.publish('4.0', works.keys);
  // opkg says that it cannot check the list, and ends with 0.
  await on.run('update');
  await on.run('upgrade', 'depotd-keyring');
  expect(await on.status()).toMatch(/depotd-keyring\nV(?:ersion)?: ?3\.0-r1\n/);
}
