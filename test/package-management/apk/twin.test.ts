import { cp, lstat, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { createApkDevice, type ApkDevice } from '../../device/apk-device/apk-device.ts';
import { createApk } from '../../device/apk-device/apk.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { openApkStore, type ApkStore } from './open-store.ts';

/**
 * Random operations through depotd, and the same by hand on a second device. More of them:
 * `APK=/path/to/apk TWIN_SEEDS=1,2,3,4,5,6 TWIN_OPERATIONS=40 npx vitest run` and this file.
 */
const SEEDS = (process.env.TWIN_SEEDS ?? '1').split(',').map(Number);
const OPERATIONS = Number(process.env.TWIN_OPERATIONS ?? '8');

let store: ApkStore;
let twin: ApkDevice;
beforeEach(async () => {
  store = await openApkStore();
  twin = await createApkDevice();
  await twin.apk('update');
});
afterEach(async () => {
  await store.close();
  await twin.close();
});

test.each(SEEDS)(
  'what depotd does is what apk does by hand, and what it refuses changes nothing: seed %i',
  { timeout: OPERATIONS * 90_000 },
  async (seed) => {
    const random = createRandom(seed);
    const done = { done: 0, failed: 0 };
    for (let index = 0; index < OPERATIONS; index += 1) {
      const step = `seed ${seed}, operation ${index}`;
      done[await random.pick(OPERATION_KINDS)(random, `${step}: `)] += 1;
      expect(await stateOf(store.device), step).toEqual(await stateOf(twin));
    }
    expect(done.done + done.failed).toBe(OPERATIONS);
    process.stdout.write(`seed ${seed}: ${done.done} done, ${done.failed} refused, alike\n`);
  },
);

type Operation = (random: Random, step: string) => Promise<'done' | 'failed'>;

const APPS = ['demo', 'notes'] as const;
const PACKAGES = [
  ...['libdemo', 'libonce', 'demo-app', 'badpost', 'needbadpost', 'badpre', 'badprerm'],
  ...['badpostrm', 'badsum', 'gone', 'wrongarch', 'needmissing', 'verneed', 'conflictor'],
  ...['clash', 'virt', 'needvirt', 'chatty', 'tiny-01', 'tiny-02', 'nosuch', 'busybox', 'libc'],
] as const;
const NAMES: readonly [string, ...string[]] = [...APPS, ...APPS, ...APPS, ...PACKAGES];

const install: Operation = async (random, step) => {
  const name = random.pick(NAMES);
  return compare(step, ['install', name], ['add', metaOf(name)]);
};

const remove: Operation = async (random, step) => {
  const present = [...(await store.device.database()).keys()].map((name) =>
    name.replace(/^app-meta-/, ''),
  );
  const name = random.pick([random.pick(NAMES), ...present]);
  return compare(step, ['remove', name], ['del', metaOf(name)]);
};

const upgrade: Operation = async (random, step) => {
  const name = random.pick(NAMES);
  const apps = { demo: ['demo-app', 'app-meta-demo'], notes: ['notes-app', 'app-meta-notes'] };
  const names = name in apps ? apps[name as keyof typeof apps] : [name];
  return compare(step, ['upgrade', name], ['upgrade', ...names]);
};

/** The feeds get older or newer, and both devices hear of it. */
const publish: Operation = async (random, step) => {
  const version = random.pick<1 | 2>([1, 2]);
  for (const device of [store.device, twin]) device.publish(version);
  return compare(step, ['update'], ['update']);
};

/** The owner does the same on both. */
const byHand: Operation = async (random) => {
  const words = random.pick([
    ['add', 'libdemo=1.0-r1'],
    ['add', 'libdemo'],
    ['add', 'badpost'],
    ['del', 'badpost'],
    ['add', 'libonce'],
  ]);
  for (const device of [store.device, twin]) await device.apk(...words);
  return 'done';
};

const upload: Operation = async (random, step) => {
  const version = random.pick(['0.5-r1', '3.0-r1']);
  const { bytes } = createApk({
    name: random.pick(['sent', 'libonce']),
    version,
    depends: random.pick([[], ['libdemo'], ['nothere']]),
    files: { '/usr/bin/sent': version },
  });
  const file = join(twin.root, '../sent.apk');
  await writeFile(file, bytes);
  return compare(step, bytes, ['--allow-untrusted', 'add', file]);
};

const OPERATION_KINDS = [install, install, remove, upgrade, publish, byHand, upload] as const;

function metaOf(name: string): string {
  return (APPS as readonly string[]).includes(name) ? `app-meta-${name}` : name;
}

/**
 * What was done is done by hand, too. What failed must have changed nothing, and must be something
 * that apk by hand does not do either, or does together with what nobody asked for.
 */
async function compare(
  step: string,
  request: [string, string?] | Buffer,
  words: readonly string[],
): Promise<'done' | 'failed'> {
  const before = await stateOf(store.device);
  const name = Buffer.isBuffer(request) ? undefined : request[1];
  const { state, error } = Buffer.isBuffer(request)
    ? await store.upload(request)
    : await store.run(request[0], name === undefined ? {} : { package: name });
  const what = `${step}${words.join(' ')}: ${state} ${error ?? ''}`;
  if (state === 'done') {
    await twin.apk(...words);
    return 'done';
  }
  expect(await stateOf(store.device), what).toEqual(before);
  const copy = `${twin.root}.before`;
  await cp(twin.root, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const { code } = await twin.apk(...words);
  const after = await stateOf(twin);
  const isRefusedByBoth = code !== 0 || JSON.stringify(after) === JSON.stringify(before);
  const hasMore = Object.keys(before.packages).some(
    (known) => after.packages[known] === undefined || after.packages[known].includes('['),
  );
  // A downgrade, a pin that is let go, and a dependency dropped from world are nobody's wish.
  const isSilent = JSON.stringify(after.world) !== JSON.stringify(before.world);
  // `apk del` of what another package needs keeps it, and upgrades it on the way.
  const isKept = words[0] === 'del' && after.packages[words[1] ?? ''] !== undefined;
  expect([what, isRefusedByBoth || hasMore || isSilent || isKept]).toEqual([what, true]);
  await rm(twin.root, { recursive: true });
  await cp(copy, twin.root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  await rm(copy, { recursive: true });
  return 'failed';
}

interface State {
  packages: Record<string, string>;
  world: string[];
  files: Record<string, string>;
}

/** What is on record and on the disk, but for what the daemon and apk keep for themselves. */
async function stateOf(device: ApkDevice): Promise<State> {
  const packages = [...(await device.database())].map(([name, { version, flags }]) => {
    const marks = flags.replace('S', '');
    return [name, marks === '' ? version : `${version} [${marks}]`] as const;
  });
  return {
    packages: Object.fromEntries(packages.toSorted()),
    world: (await device.world()).toSorted(),
    files: await filesBelow(device.root, ''),
  };
}

const OWN = /^(?:tmp|var|etc\/depotd|lib\/apk\/db|etc\/apk\/(?:world|repositories))/;

async function filesBelow(root: string, folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(join(root, folder))).toSorted()) {
    const path = join(folder, name);
    if (OWN.test(path)) continue;
    const entry = await lstat(join(root, path));
    if (entry.isDirectory()) Object.assign(found, await filesBelow(root, path));
    else if (entry.isSymbolicLink()) found[path] = await readlink(join(root, path));
    else found[path] = await readFile(join(root, path), 'latin1');
  }
  return found;
}
