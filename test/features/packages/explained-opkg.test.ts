import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { damagedPackages } from '../../device/packages/damaged-packages.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { halfInstalled, openStore, type Store } from './open-store.ts';

/**
 * Every failure of opkg that is known, with what the owner is told. `OPKG=/path` has them told of
 * the real program.
 */
let store: Store;

beforeAll(async () => {
  store = await openStore({
    packages: [
      ...damagedPackages(),
      simplePackage('kmod-other', { fields: { Depends: 'kernel (= 6.6.1-1-abcdef)' } }),
      simplePackage('needgone', { fields: { Depends: 'gone' } }),
      simplePackage('openline', {
        scripts: { postinst: '#!/bin/sh\nprintf "half a line"\nexit 4\n' },
      }),
      simplePackage('silent', { scripts: { postinst: '#!/bin/sh\nexit 5\n' } }),
    ],
  });
});
afterEach(() => store.device.feed.behave());
afterAll(() => store.close());

interface Row {
  name: string;
  code: string;
  error: string | RegExp;
  operation?: 'install' | 'remove' | 'upgrade';
  /** Installed beforehand. */
  there?: string;
  /** What the log has of opkg's own words. */
  said?: string[];
}

const TABLE: Row[] = [
  {
    name: 'nosuch',
    code: 'not_found',
    error: 'no feed offers it',
    said: ["Unknown package 'nosuch'."],
  },
  {
    name: 'needmissing',
    code: 'dependency_missing',
    error: 'it needs does-not-exist, which no feed offers',
    said: ['does-not-exist'],
  },
  {
    name: 'verneed',
    code: 'dependency_missing',
    error: 'it needs libdemo (>= 9.0), which no feed offers',
  },
  {
    name: 'kmod-other',
    code: 'kernel_mismatch',
    error: 'it is made for another kernel: it needs kernel (= 6.6.1-1-abcdef)',
  },
  {
    name: 'wrongarch',
    code: 'wrong_architecture',
    error: 'it is not made for the architecture of this device',
    said: ['has no valid architecture'],
  },
  {
    name: 'conflictor',
    there: 'libdemo',
    code: 'dependency_conflict',
    error: 'it conflicts with libdemo',
  },
  {
    name: 'clash',
    there: 'demo-app',
    code: 'file_conflict',
    error: /^it would replace \S*\/usr\/bin\/demo-app, which belongs to demo-app$/,
  },
  {
    name: 'badsum',
    code: 'checksum',
    error: /^what was downloaded of it is not what the list of the feed says/,
    said: ['Checksum or size mismatch for package badsum'],
  },
  {
    name: 'gone',
    code: 'download_failed',
    error: /^http:\S+\/gone_1.0-1_all.ipk cannot be downloaded: the server does not have it/,
    said: ['Failed to download'],
  },
  { name: 'needgone', code: 'download_failed', error: /gone_1.0-1_all.ipk cannot be downloaded/ },
  {
    name: 'toobig',
    code: 'no_space',
    error: /^\d+\.\d\d \w*B are free on \S+, it needs 2\.79 GiB$/,
  },
  {
    name: 'badpost',
    code: 'script_failed',
    error:
      'its script that runs after its installation ended with exit code 3: "badpost: cannot do it"',
    said: [
      'badpost: postinst starts',
      'badpost: cannot do it',
      'postinst script returned status 3',
    ],
  },
  {
    name: 'needbadpost',
    code: 'script_failed',
    error:
      'the script of badpost that runs after its installation ended with exit code 3: "badpost: cannot do it"',
  },
  {
    name: 'badpre',
    code: 'script_failed',
    error:
      'its script that runs before its installation ended with exit code 1: "badpre: preinst says no"',
    said: ['badpre: preinst says no', 'preinst script returned status 1'],
  },
  {
    name: 'openline',
    code: 'script_failed',
    error: /^its script that runs after its installation ended with exit code 4/,
  },
  {
    name: 'silent',
    code: 'script_failed',
    error: 'its script that runs after its installation ended with exit code 5',
  },
  {
    name: 'badprerm',
    there: 'badprerm',
    operation: 'remove',
    code: 'script_failed',
    error:
      'its script that runs before its removal ended with exit code 1: "badprerm: prerm says no"',
    said: ['badprerm: prerm says no'],
  },
  {
    name: 'libc',
    operation: 'remove',
    code: 'essential',
    error: 'the device does not start without it',
  },
  {
    name: 'libdemo',
    there: 'demo-app',
    operation: 'remove',
    code: 'needed_by',
    error: 'it is needed by demo-app',
  },
  { name: 'nosuch', operation: 'remove', code: 'not_found', error: 'it is not installed' },
  { name: 'nosuch', operation: 'upgrade', code: 'not_found', error: 'it is not installed' },
  {
    name: 'garbage',
    code: 'damaged_package',
    error: 'its file is damaged: it describes no package of that version',
  },
  { name: 'a-page', code: 'damaged_package', error: /^its file is damaged/ },
  { name: 'half-file', code: 'damaged_package', error: /^its file is damaged/ },
  { name: 'no-bytes', code: 'damaged_package', error: /^its file is damaged/ },
  {
    name: 'bad-data',
    code: 'damaged_package',
    error: /^none of the [\d.]+ KiB of it is there: its file is damaged, or another package took /,
  },
];

test.each(TABLE)(
  '$operation $name (there: $there) fails with $code',
  async ({ name, code, error, operation = 'install', there, said = [] }) => {
    if (there !== undefined) await store.device.opkg('install', there);
    const before = await store.packages();

    const task = await store.run(operation, { package: name });

    const prefix = `cannot ${operation} ${name}: `;
    expect(task.error?.startsWith(prefix)).toBe(true);
    const reason = task.error?.slice(prefix.length) ?? '';
    if (typeof error === 'string') expect(reason).toBe(error);
    else expect(reason).toMatch(error);
    expect(task).toMatchObject({ state: 'failed', error_code: code });
    expect(task.exit_code).not.toBe(0);
    expect(task.remedy).toMatch(/^[A-Z].*\.$/);
    expect(task.packages).toBeUndefined();
    for (const words of said) expect(task.log).toContain(words);
    expect(await store.packages()).toEqual(before);
    expect(await halfInstalled(store.device)).toEqual([]);
    if (operation !== 'install') return;
    expect(await store.device.read(`usr/bin/${name}`)).toBeUndefined();
    expect(await store.device.read(`usr/lib/opkg/info/${name}.control`)).toBeUndefined();
  },
);

describe('lists', () => {
  test.each([
    ['html', 'damaged_package', 'what it sent is not a package list', ''],
    ['truncated', 'damaged_package', 'its list is damaged', ''],
    [
      'missing',
      'download_failed',
      'its list could not be fetched',
      'the server does not have it, or answers with an error',
    ],
  ] as const)(
    'an update with a list that is %s fails with %s, names the feed, and keeps the old list',
    async (...[fault, code, reason, cause]) => {
      const before = await store.device.opkg('list');
      store.device.feed.misbehave('Packages.gz', fault);

      const task = await store.run('update');

      expect(task).toMatchObject({ state: 'failed', error_code: code });
      expect(task.exit_code).not.toBe(0);
      expect(task.error).toContain(`cannot update: lab (${store.device.feed.url}): ${reason}`);
      expect(task.error).toContain(cause);
      expect(await store.device.opkg('list')).toEqual(before);
    },
  );

  test('an update while the feed is away says that it cannot be reached', async () => {
    await store.device.feed.refuse();
    const task = await store.run('update');
    await store.device.feed.listen();

    expect(task.error_code).toBe('download_failed');
    expect(task.error).toContain('the server cannot be reached');
  });
});

test('a job names the packages that it has changed', async () => {
  for (const name of ['virt', 'needvirt']) await store.device.opkg('remove', name);

  expect((await store.run('install', { package: 'needvirt' })).packages).toEqual([
    'needvirt',
    'virt',
  ]);
  expect((await store.run('remove', { package: 'needvirt' })).packages).toContain('needvirt');
});

test('a package that its owner holds is not upgraded, and the failure says so', async () => {
  const own = await openStore();
  try {
    await own.device.opkg('install', 'libonce', 'libdemo');
    await own.device.opkg('flag', 'hold', 'libdemo');
    own.device.publish(2);
    await own.device.opkg('update');

    const task = await own.run('upgrade', { package: 'libdemo' });

    expect(task).toMatchObject({ state: 'failed', error_code: 'held' });
    expect(task.error).toContain('it stays at 1.0-1, 1.0-2 is offered');
  } finally {
    await own.close();
  }
});

test('a configuration script that fails is quoted', async () => {
  await store.run('install', { package: 'demo' });
  const script = join(store.device.root, 'usr/libexec/istorea/demo.sh');
  await writeFile(script, '#!/bin/sh\necho starting\necho "no such folder: /mnt/x"\nexit 6\n');

  expect(await store.run('autoconf', { package: 'demo' })).toMatchObject({
    state: 'failed',
    error_code: 'script_failed',
    error:
      'cannot configure demo: its configuration script ended with exit code 6: ' +
      '"no such folder: /mnt/x"',
  });
  expect(await store.run('autoconf', { package: 'nosuch' })).toMatchObject({
    state: 'failed',
    error_code: 'not_found',
  });
});
