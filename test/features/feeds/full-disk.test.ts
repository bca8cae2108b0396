import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { createFeedOf } from '../../device/feed.ts';
import { change } from './feed-answer.ts';
import { MANAGERS, type ManagedFeeds } from './managed-feeds.ts';

type Disk = 'full' | 'read-only';
type Folder = keyof ManagedFeeds['folders'];
type Operation = 'add_feed' | 'remove_feed' | 'set_feed';

const KIB = 1024;

/** Ends what a test has mounted. */
const spoilt: (() => Promise<void>)[] = [];

/** Puts what is in the folder on a disk of its own. @returns what makes the disk good again */
async function spoil(folder: string, disk: Disk): Promise<() => Promise<void>> {
  const copy = await mkdtemp(join(tmpdir(), 'depotd-copy-'));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await cp(folder, copy, { recursive: true });
  await mounted('-t', 'tmpfs', '-o', `mode=700,size=${256 * KIB}`, 'tmpfs', folder);
  spoilt.push(async () => {
    await runCommand(['umount', '-l', folder]);
    await rm(copy, { recursive: true });
  });
  await cp(copy, folder, { recursive: true });
  const filler = join(folder, 'filler');
  if (disk === 'read-only') await mounted('-o', 'remount,ro', folder);
  else await writeFile(filler, Buffer.alloc(512 * KIB)).catch(() => undefined);
  return () =>
    disk === 'read-only' ? mounted('-o', 'remount,rw', folder) : rm(filler, { force: true });
}

async function mounted(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await runCommand(['mount', ...args]);
  if (code !== 0) throw new Error(`cannot mount: ${stderr}`);
}

/** Everything that a change of the feeds may touch. */
async function filesOf({ root, folders }: ManagedFeeds): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const folder of [folders.configuration, folders.lists, folders.fetched]) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const file = join(entry.parentPath, entry.name);
      if (entry.isFile() && entry.name !== 'filler') found[file] = await readFile(file, 'latin1');
    }
  }
  return found;
}

/** Of two readings that are the same: what a task kept for undo goes behind its end. */
async function filesAtRest(feeds: ManagedFeeds): Promise<Record<string, string>> {
  let found: Record<string, string> | undefined;
  for (;;) {
    const again = await filesOf(feeds).catch(() => undefined);
    if (again !== undefined && isDeepStrictEqual(again, found)) return again;
    found = again;
    await delay(50);
  }
}

const BEFORE: Record<Operation, (Operation | 'off')[]> = {
  add_feed: [],
  set_feed: ['add_feed', 'off'],
  remove_feed: ['add_feed'],
};

interface Row {
  folder: Folder;
  disk: Disk;
  operation: Operation;
}

const ROWS: Row[] = (['full', 'read-only'] as const).flatMap((disk) => [
  ...(['configuration', 'lists', 'fetched'] as const).flatMap((folder): Row[] => [
    { folder, disk, operation: 'add_feed' },
    { folder, disk, operation: 'set_feed' },
  ]),
  { folder: 'configuration', disk, operation: 'remove_feed' },
]);

describe.skipIf(process.getuid?.() !== 0)('of a disk that cannot be written', () => {
  describe.each(MANAGERS)('with $manager', ({ start }) => {
    let feeds: ManagedFeeds;
    let asBefore: string;
    beforeAll(async () => {
      feeds = await start();
      asBefore = await mkdtemp(join(tmpdir(), 'depotd-before-'));
      for (const folder of Object.values(feeds.folders)) {
        await mkdir(join(feeds.root, folder), { recursive: true, mode: 0o700 });
        await cp(join(feeds.root, folder), join(asBefore, folder), { recursive: true });
      }
    });
    afterEach(async () => {
      for (const end of spoilt.splice(0)) await end();
      for (const folder of Object.values(feeds.folders)) {
        for (const name of await readdir(join(feeds.root, folder))) {
          await rm(join(feeds.root, folder, name), { recursive: true });
        }
        await cp(join(asBefore, folder), join(feeds.root, folder), { recursive: true });
      }
    });
    afterAll(async () => {
      await feeds.close();
      await rm(asBefore, { recursive: true });
    });

    const run = (operation: Operation | 'off'): ReturnType<typeof change> => {
      const [kind, params] = {
        add_feed: ['add_feed', feeds.params],
        set_feed: ['set_feed', { name: 'mine', enabled: '1' }],
        off: ['set_feed', { name: 'mine', enabled: '0' }],
        remove_feed: ['remove_feed', { name: 'mine' }],
      }[operation] as [string, Record<string, string>];
      return change(feeds.daemon, kind, params);
    };

    test.each(ROWS)(
      '$operation with $folder $disk changes nothing, says so, and works afterwards',
      async ({ folder, disk, operation }) => {
        for (const each of BEFORE[operation]) {
          expect((await run(each)).error).toBeUndefined();
        }
        const before = await filesAtRest(feeds);
        const mend = await spoil(join(feeds.root, feeds.folders[folder]), disk);

        const task = await run(operation);

        expect(task).toMatchObject({
          state: 'failed',
          error_code: disk === 'full' ? 'no_space' : 'not_allowed',
          error: expect.stringMatching(disk === 'full' ? /no space|full/i : /read-only/) as string,
        });
        expect(await filesAtRest(feeds)).toEqual(before);
        await mend();
        expect((await run(operation)).error).toBeUndefined();
        const text = await readFile(join(feeds.root, feeds.custom), 'utf8');
        expect(text.includes(feeds.params['url'] ?? '')).toBe(operation !== 'remove_feed');
      },
    );

    test('a list that the disk has no room for ends with no_space, and leaves nothing', async () => {
      const before = await filesAtRest(feeds);
      await spoil(join(feeds.root, feeds.folders.fetched), 'read-only').then((mend) => mend());
      const large = await createFeedOf(new Map([[feeds.index, randomBytes(512 * KIB)]]));
      onTestFinished(() => large.close());
      const url = (feeds.params['url'] ?? '').replace(feeds.feed.url, large.url);

      expect(await change(feeds.daemon, 'add_feed', { ...feeds.params, url })).toMatchObject({
        state: 'failed',
        error_code: 'no_space',
      });

      expect(await filesAtRest(feeds)).toEqual(before);
    });

    test.each(['full', 'read-only'] as const)(
      'a feed is removed also if its list stays on a disk that is %s',
      async (disk) => {
        expect((await run('add_feed')).error).toBeUndefined();
        const mend = await spoil(join(feeds.root, feeds.folders.lists), disk);

        expect((await run('remove_feed')).error).toBeUndefined();

        const text = await readFile(join(feeds.root, feeds.custom), 'utf8');
        expect(text).not.toContain(feeds.params['url']);
        await mend();
        expect((await run('add_feed')).error).toBeUndefined();
      },
    );
  });
});
