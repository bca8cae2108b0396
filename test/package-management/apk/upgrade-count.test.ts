import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { ApkDevice } from '../../device/apk-device/apk-device.ts';
import { planOf } from '../../features/preview/preview-answer.ts';
import { oneProgram, openApkStore } from './open-store.ts';

const NAMES = ['from-image', 'held', 'needed', 'wanted'];

test("an upgrade of all counts as apk itself does, less the firmware's and what is held", async () => {
  const packagesOf = (version: string) =>
    NAMES.map((name) =>
      oneProgram(name, version, name === 'wanted' ? { depends: ['needed'] } : {}),
    );
  const store = await openApkStore({ packages: packagesOf('1.0-r1') });
  onTestFinished(() => store.close());
  const { device, daemon } = store;
  for (const name of ['demo', 'wanted', 'held', 'from-image']) {
    await store.run('install', { package: name });
  }
  await daemon.post('admin/store/hold', { package: 'held' });
  const image = 'rom/lib/apk/db';
  await mkdir(join(device.root, image), { recursive: true });
  await writeFile(join(device.root, image, 'installed'), 'P:from-image\nV:1.0-r1\nA:noarch\n\n');
  device.publishPackages(packagesOf('2.0-r1'), 2);
  await device.apk('update');

  const { is_possible: isPossible, upgrades, left } = await planOf(daemon, 'upgrade');
  const newer = await newerIn(device);
  const planned = namesIn((await device.apk('upgrade', '-s')).stdout, /Upgrading (\S+) \(/g);

  expect(isPossible).toBe(true);
  expect(left).toEqual([
    { name: 'from-image', reason: 'firmware' },
    { name: 'held', reason: 'held' },
  ]);
  const names = upgrades.map(({ name }) => name);
  expect(newer).toEqual([...names, 'from-image', 'held'].sort());
  expect(planned).toEqual([...names, 'from-image'].sort());

  expect((await store.run('upgrade', { all: 'true' })).state).toBe('done');
  expect(await newerIn(device)).toEqual(['from-image', 'held']);
});

/** The stand-in does not act out `version -l`, which says the same. */
async function newerIn(device: ApkDevice): Promise<string[]> {
  const listed = namesIn((await device.apk('list', '--upgradable')).stdout, /^(\S+?)-\d\S* /gm);
  if (process.env.APK !== undefined) {
    const { stdout } = await device.apk('version', '-l', '<');
    expect(namesIn(stdout, /^(\S+?)-\d\S* +</gm)).toEqual(listed);
  }
  return listed;
}

function namesIn(output: string, pattern: RegExp): string[] {
  return Array.from(output.matchAll(pattern), ([, name = '']) => name).sort();
}
