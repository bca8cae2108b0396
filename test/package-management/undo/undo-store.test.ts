import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';

import { loadConfig } from '../../../src/config/config.ts';
import { createPaths } from '../../../src/device/paths.ts';
import { createUndoStore } from '../../../src/package-management/undo/undo-store.ts';

const id = 'a'.repeat(32);

async function openStore() {
  const root = await mkdtemp(join(tmpdir(), 'depotd-undo-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const paths = createPaths(loadConfig({ file: '/dev/null', overrides: [`main.root=${root}`] }));
  return { paths, store: createUndoStore({ paths, limitBytes: () => 1024 ** 2 }) };
}

test('what is on its way from flash to memory stays on flash until all of it is there', async () => {
  const { paths, store } = await openStore();
  const kept = join(paths.stateDir, 'undo', id);
  await mkdir(kept, { recursive: true, mode: 0o700 });
  await writeFile(join(kept, 'manifest.json'), '{}');
  const server = createServer().listen(join(kept, 'what-cannot-be-copied'));
  await once(server, 'listening');
  onTestFinished(() => void server.close());

  await expect(store.release(id)).rejects.toThrow();

  expect(await store.find(id)).toBe(kept);
  await rm(join(kept, 'what-cannot-be-copied'));
  await store.release(id);
  expect(await store.find(id)).toBe(join(paths.uploadDir, 'undo', id));
});

test.each([
  ['ext4', 'disk'],
  ['fuseblk', 'disk'],
  ['fuse', 'memory'],
  ['fuse.sshfs', 'memory'],
])('what is mounted as %s keeps copies or not: they lie in %s', async (type, kind) => {
  const root = await mkdtemp(join(tmpdir(), 'depotd-undo-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const [disk = '', uploadDir = '', stateDir = ''] = ['a', 'b', 'c'].map((one) => join(root, one));
  await mkdir(disk);
  const mountTable = (): Promise<string> =>
    Promise.resolve(`2 1 0:99 / ${disk} rw - ${type} /dev/sda1 rw\n`);
  const paths = { isLive: true, stateDir, uploadDir };
  const limitBytes = (): number => 1024 ** 2;
  const store = createUndoStore({ paths: paths as never, limitBytes, mountTable });

  expect(await store.open(id, { bytes: 1, isLasting: false })).toMatchObject({ kind });
});

test('who asks which jobs have copies while the last of them goes has an answer', async () => {
  const { store } = await openStore();
  for (let count = 0; count < 100; count += 1) {
    const asking: Promise<unknown>[] = [];
    await store.open(id, { bytes: 1, isLasting: false });
    const gone = new AbortController();
    const dropping = store.drop(id).finally(() => gone.abort());
    while (!gone.signal.aborted) {
      asking.push(store.list());
      await nextTurn();
    }
    await Promise.all([dropping, ...asking]);
  }

  expect(await store.list()).toEqual(new Set());
});
