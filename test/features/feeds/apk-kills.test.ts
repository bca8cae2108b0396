import { watch } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { change, expectOnlyUndo } from './feed-answer.ts';
import { startApkFeeds, type ManagedFeeds } from './managed-feeds.ts';

let feeds: ManagedFeeds;
let keysBefore: string[];

beforeEach(async () => {
  feeds = await startApkFeeds();
  for (const folder of Object.values(feeds.folders)) {
    await mkdir(join(feeds.root, folder), { recursive: true, mode: 0o700 });
  }
  keysBefore = await readdir(join(feeds.root, feeds.folders.keys));
});
afterEach(() => feeds.close());

/** The first change in that folder whose name fits ends the daemon, whatever it was doing. */
function killAt(folder: string, name: RegExp): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(join(feeds.root, folder), (_, changed) => {
      if (changed === null || !name.test(changed)) return;
      process.kill(feeds.daemon.pid, 'SIGKILL');
      watcher.close();
      resolve();
    });
  });
}

const FETCHING = { folder: 'tmp/depotd', name: /^feed-/ };
const LIST_COMES = { folder: 'tmp/cache/apk', name: /^APKINDEX\..*\.new$/ };
const LIST_THERE = { folder: 'tmp/cache/apk', name: /^APKINDEX\.[0-9a-f]+\.tar\.gz$/ };
const WRITTEN = { folder: 'etc/apk/repositories.d', name: /^customfeeds\.list\.\d+\.new$/ };
const THERE = { folder: 'etc/apk/repositories.d', name: /^customfeeds\.list$/ };

test.each([
  { operation: 'add_feed', when: 'when it begins to fetch', ...FETCHING },
  { operation: 'add_feed', when: 'when the list comes', ...LIST_COMES },
  { operation: 'add_feed', when: 'when the list is there', ...LIST_THERE },
  { operation: 'add_feed', when: 'when the file is written', ...WRITTEN },
  { operation: 'add_feed', when: 'when the file is there', ...THERE },
  { operation: 'set_feed', when: 'when it begins to fetch', ...FETCHING },
  { operation: 'set_feed', when: 'when the list comes', ...LIST_COMES },
  { operation: 'set_feed', when: 'when the file is written', ...WRITTEN },
  { operation: 'remove_feed', when: 'when the file is written', ...WRITTEN },
  { operation: 'remove_feed', when: 'when the list goes', ...LIST_THERE },
] as const)('kill -9 during $operation $when leaves all of it or nothing', async (row) => {
  const { operation, folder, name } = row;
  if (operation !== 'add_feed') await change(feeds.daemon, 'add_feed', feeds.params);
  if (operation === 'set_feed') {
    await change(feeds.daemon, 'set_feed', { name: 'mine', enabled: '0' });
  }
  const killed = killAt(folder, name);
  const { [operation]: params } = {
    add_feed: feeds.params,
    set_feed: { name: 'mine', enabled: '1' },
    remove_feed: { name: 'mine' },
  };
  // The daemon may be killed before it has answered; the task is on record all the same.
  const id = await feeds.daemon.submit(operation, params).catch(() => undefined);
  await killed;
  await feeds.daemon.restart();
  const known = (await (await feeds.daemon.get('admin/system/tasks/status')).json()) as object;
  const { state, error } = await feeds.daemon.finished(id ?? Object.keys(known).at(-1) ?? '');

  const text = await readFile(join(feeds.root, feeds.custom), 'utf8');
  const isOn = text.includes(`# feed: mine\n${feeds.params['url'] ?? ''}\n`);
  const isMeantOn = operation !== 'remove_feed';
  expect({ error, isDone: state === 'done' }).toEqual({ error, isDone: isOn === isMeantOn });
  expect(text.startsWith('# add your custom package feeds here\n')).toBe(true);
  expect(await readdir(join(feeds.root, feeds.folders.lists))).toHaveLength(isOn ? 1 : 0);
  const keys = await readdir(join(feeds.root, feeds.folders.keys));
  const isKeyNew = feeds.params['key'] !== undefined;
  if (operation === 'add_feed') {
    expect(keys).toHaveLength(keysBefore.length + (isOn && isKeyNew ? 1 : 0));
  }
  const others = await readdir(join(feeds.root, 'etc/apk'), { recursive: true });
  expect(others.filter((each) => each.endsWith('.new'))).toEqual([]);
  await expectOnlyUndo(feeds.daemon, join(feeds.root, feeds.folders.fetched));
});
