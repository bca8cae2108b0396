import { watch } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { createFeedOf, type Feed } from '../../device/feed.ts';
import { createFeedFiles } from '../../device/feed-index.ts';
import { createUsignPair, type UsignPair } from '../../device/usign.ts';
import { change, expectOnlyUndo } from './feed-answer.ts';

const PACKAGES = [{ name: 'extra-tool', version: '1.0-1', architecture: 'all' }];

let device: Device;
let daemon: TestDaemon;
let feed: Feed;
let pair: UsignPair;

beforeEach(async () => {
  device = await createDevice();
  daemon = await startDaemon(device);
  pair = createUsignPair();
  const files = createFeedFiles(PACKAGES);
  const list = gunzipSync(files.get('Packages.gz') ?? Buffer.alloc(0));
  feed = await createFeedOf(new Map([...files, ['Packages.sig', pair.sign(list)]]));
  await writeFile(join(device.root, 'etc/opkg/signed.conf'), 'option check_signature\n');
  for (const folder of ['tmp/opkg-lists', 'etc/opkg/keys', 'tmp/depotd']) {
    await mkdir(join(device.root, folder), { recursive: true, mode: 0o700 });
  }
});
afterEach(async () => {
  await daemon.close();
  await device.close();
  await feed.close();
});

/** The first change in that folder whose name fits ends the daemon, whatever it was doing. */
function killAt(folder: string, name: RegExp): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(join(device.root, folder), (_, changed) => {
      if (changed === null || !name.test(changed)) return;
      process.kill(daemon.pid, 'SIGKILL');
      watcher.close();
      resolve();
    });
  });
}

test.each([
  { operation: 'add_feed', when: 'when it begins to fetch', folder: 'tmp/depotd', name: /^feed-/ },
  {
    operation: 'add_feed',
    when: 'when the list comes',
    folder: 'tmp/opkg-lists',
    name: /^\.mine\.new$/,
  },
  {
    operation: 'add_feed',
    when: 'when the list is there',
    folder: 'tmp/opkg-lists',
    name: /^mine$/,
  },
  { operation: 'add_feed', when: 'when the key comes', folder: 'etc/opkg/keys', name: /\.new$/ },
  {
    operation: 'add_feed',
    when: 'when the key is there',
    folder: 'etc/opkg/keys',
    name: /^[0-9a-f]{16}$/,
  },
  {
    operation: 'add_feed',
    when: 'when the file is written',
    folder: 'etc/opkg',
    name: /^customfeeds\.conf\.\d+\.new$/,
  },
  {
    operation: 'add_feed',
    when: 'when the file is there',
    folder: 'etc/opkg',
    name: /^customfeeds\.conf$/,
  },
  { operation: 'set_feed', when: 'when it begins to fetch', folder: 'tmp/depotd', name: /^feed-/ },
  {
    operation: 'set_feed',
    when: 'when the list comes',
    folder: 'tmp/opkg-lists',
    name: /^\.mine\.new$/,
  },
  {
    operation: 'set_feed',
    when: 'when the file is written',
    folder: 'etc/opkg',
    name: /^customfeeds\.conf\.\d+\.new$/,
  },
  {
    operation: 'remove_feed',
    when: 'when the file is written',
    folder: 'etc/opkg',
    name: /^customfeeds\.conf\.\d+\.new$/,
  },
  {
    operation: 'remove_feed',
    when: 'when the list goes',
    folder: 'tmp/opkg-lists',
    name: /^mine$/,
  },
] as const)('kill -9 during $operation $when leaves all of it or nothing', async (row) => {
  const { operation, folder, name } = row;
  const params = { name: 'mine', url: feed.url, key: pair.publicKey };
  if (operation !== 'add_feed') await change(daemon, 'add_feed', params);
  if (operation === 'set_feed') await change(daemon, 'set_feed', { name: 'mine', enabled: '0' });
  const killed = killAt(folder, name);
  const id = await submitted(operation, operation === 'add_feed' ? params : SWITCHED[operation]);
  await killed;
  await daemon.restart();
  const known = (await (await daemon.get('admin/system/tasks/status')).json()) as object;
  const task = id ?? Object.keys(known).at(-1) ?? '';
  const { state, error } = await daemon.finished(task);

  const text = (await device.read('etc/opkg/customfeeds.conf')) ?? '';
  const isOn = text.includes(`\nsrc/gz mine ${feed.url}\n`);
  const isMeantOn = operation !== 'remove_feed';
  expect({ error, isDone: state === 'done' }).toEqual({ error, isDone: isOn === isMeantOn });
  expect(text.startsWith('# add your custom package feeds here\n')).toBe(true);
  const lists = await readdir(join(device.root, 'tmp/opkg-lists'));
  expect(lists.filter((each) => !each.startsWith('.')).sort()).toEqual(
    isOn ? ['mine', 'mine.sig'] : [],
  );
  if (operation === 'add_feed') {
    expect(await readdir(join(device.root, 'etc/opkg/keys'))).toEqual(isOn ? [pair.id] : []);
  }
  const others = await readdir(join(device.root, 'etc/opkg'));
  expect(others.filter((each) => each.endsWith('.new'))).toEqual([]);
  await expectOnlyUndo(daemon, join(device.root, 'tmp/depotd'));
});

const SWITCHED = { set_feed: { name: 'mine', enabled: '1' }, remove_feed: { name: 'mine' } };

/** The daemon may be killed before it has answered; the task is on record all the same. */
async function submitted(
  operation: string,
  params: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  return daemon.submit(operation, params).catch(() => undefined);
}
