import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCacheStore, type AnswerHead } from '../../../src/features/forge/cache-store.ts';

const MIB = 1024 ** 2;
const NAME = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);
const HEAD: AnswerHead = { status: 200, reason: 'OK', headers: [], varied: [], storedAt: 1 };

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'depotd-store-'));
  folder = join(parent, 'cache');
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const answers = async (): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name !== 'key');

test.each([
  ['while it is written', 'before'],
  ['while it waits for the disk', 'after'],
] as const)('an answer that the forge takes back %s is not kept', async (_, when) => {
  const store = createCacheStore({ folder, maxBytes: 64 * MIB });
  await store.secret();
  const writer = store.write(NAME, HEAD);
  writer.write(Buffer.alloc(8 * MIB), () => undefined);
  if (when === 'after') writer.commit();

  await store.forget(NAME);
  if (when === 'before') writer.commit();

  // A later one tells that the earlier one is on its way no more.
  store.write(OTHER, HEAD).commit();
  await expect.poll(answers, { timeout: 10_000 }).toEqual([OTHER]);
  expect(await store.find(NAME)).toBeUndefined();
});

test('an answer that comes after the forge took one back is kept', async () => {
  const store = createCacheStore({ folder, maxBytes: 64 * MIB });
  await store.secret();
  await store.forget(NAME);
  store.write(NAME, HEAD).commit();

  await expect.poll(answers).toEqual([NAME]);
});
