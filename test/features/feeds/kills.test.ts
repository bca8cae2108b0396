import { watch } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { change, expectOnlyUndo } from './feed-answer.ts';
import { MANAGERS, type ManagedFeeds } from './managed-feeds.ts';

type Operation = 'add_feed' | 'set_feed' | 'remove_feed';

/** A change in a folder of the device. */
interface Moment {
  when: string;
  folder: string;
  name: RegExp;
}

const FETCHING = { when: 'when it begins to fetch', folder: 'tmp/depotd', name: /^feed-/ };

/** What either manager writes, and how its files name the feed and its lists. */
const FILES = {
  opkg: {
    listComes: { when: 'when the list comes', folder: 'tmp/opkg-lists', name: /^\.mine\.new$/ },
    listMoves: { folder: 'tmp/opkg-lists', name: /^mine$/ },
    keys: [
      { when: 'when the key comes', folder: 'etc/opkg/keys', name: /\.new$/ },
      { when: 'when the key is there', folder: 'etc/opkg/keys', name: /^[0-9a-f]{16}$/ },
    ],
    file: { folder: 'etc/opkg', name: /^customfeeds\.conf$/ },
    written: { folder: 'etc/opkg', name: /^customfeeds\.conf\.\d+\.new$/ },
    entryOf: (url: string) => `\nsrc/gz mine ${url}\n`,
    lists: ['mine', 'mine.sig'],
  },
  apk: {
    listComes: {
      when: 'when the list comes',
      folder: 'tmp/cache/apk',
      name: /^APKINDEX\..*\.new$/,
    },
    listMoves: { folder: 'tmp/cache/apk', name: /^APKINDEX\.[0-9a-f]+\.tar\.gz$/ },
    keys: [],
    file: { folder: 'etc/apk/repositories.d', name: /^customfeeds\.list$/ },
    written: { folder: 'etc/apk/repositories.d', name: /^customfeeds\.list\.\d+\.new$/ },
    entryOf: (url: string) => `# feed: mine\n${url}\n`,
    lists: [expect.stringMatching(/^APKINDEX\.[0-9a-f]+\.tar\.gz$/) as string],
  },
};

function momentsOf(manager: keyof typeof FILES): (Moment & { operation: Operation })[] {
  const { listComes, listMoves, keys, file, written } = FILES[manager];
  const isWritten = { when: 'when the file is written', ...written };
  const isThere = [
    { when: 'when the list is there', ...listMoves },
    ...keys,
    isWritten,
    { when: 'when the file is there', ...file },
  ];
  const of = (operation: Operation, moments: readonly Moment[]) =>
    moments.map((moment) => ({ operation, ...moment }));
  return [
    ...of('add_feed', [FETCHING, listComes, ...isThere]),
    ...of('set_feed', [FETCHING, listComes, isWritten]),
    ...of('remove_feed', [isWritten, { when: 'when the list goes', ...listMoves }]),
  ];
}

describe.each(MANAGERS)('with $manager', ({ manager, start }) => {
  let feeds: ManagedFeeds;
  let keysBefore: string[];
  const at = (path: string): string => join(feeds.root, path);

  beforeEach(async () => {
    feeds = await start();
    for (const folder of Object.values(feeds.folders)) {
      await mkdir(at(folder), { recursive: true, mode: 0o700 });
    }
    keysBefore = await readdir(at(feeds.folders.keys));
  });
  afterEach(() => feeds.close());

  /** The first change in that folder whose name fits ends the daemon, whatever it was doing. */
  function killAt({ folder, name }: Moment): Promise<void> {
    return new Promise((resolve) => {
      const watcher = watch(at(folder), (_, changed) => {
        if (changed === null || !name.test(changed)) return;
        process.kill(feeds.daemon.pid, 'SIGKILL');
        watcher.close();
        resolve();
      });
    });
  }

  test.each(momentsOf(manager))(
    'kill -9 during $operation $when leaves all of it or nothing',
    async ({ operation, ...moment }) => {
      const { daemon } = feeds;
      const { url = '', key } = feeds.params;
      if (operation !== 'add_feed') await change(daemon, 'add_feed', feeds.params);
      const off = { name: 'mine', enabled: '0' };
      if (operation === 'set_feed') await change(daemon, 'set_feed', off);
      const killed = killAt(moment);
      const { [operation]: params } = {
        add_feed: feeds.params,
        set_feed: { name: 'mine', enabled: '1' },
        remove_feed: { name: 'mine' },
      };
      // The daemon may be killed before it has answered; the task is on record all the same.
      const id = await daemon.submit(operation, params).catch(() => undefined);
      await killed;
      await daemon.restart();
      const known = (await (await daemon.get('admin/system/tasks/status')).json()) as object;
      const { state, error } = await daemon.finished(id ?? Object.keys(known).at(-1) ?? '');

      const text = await readFile(at(feeds.custom), 'utf8');
      const isOn = text.includes(FILES[manager].entryOf(url));
      const isMeantOn = operation !== 'remove_feed';
      expect({ error, isDone: state === 'done' }).toEqual({ error, isDone: isOn === isMeantOn });
      expect(text.startsWith('# add your custom package feeds here\n')).toBe(true);
      const lists = (await readdir(at(feeds.folders.lists))).filter((name) => !/^\./.test(name));
      expect(lists.sort()).toEqual(isOn ? FILES[manager].lists : []);
      if (operation === 'add_feed') {
        const keys = await readdir(at(feeds.folders.keys));
        const added = keys.filter((name) => !keysBefore.includes(name));
        const texts = added.map((name) => readFile(at(join(feeds.folders.keys, name)), 'utf8'));
        expect(await Promise.all(texts)).toEqual(isOn && key !== undefined ? [key] : []);
      }
      const others = await readdir(at(feeds.folders.configuration), { recursive: true });
      expect(others.filter((name) => name.endsWith('.new'))).toEqual([]);
      await expectOnlyUndo(daemon, at(feeds.folders.fetched));
    },
  );
});
