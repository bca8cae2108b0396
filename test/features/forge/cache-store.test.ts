import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createCacheStore,
  type AnswerHead,
  type CacheStore,
} from '../../../src/features/forge/cache-store.ts';

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

/** An answer that has its place. */
async function kept(store: CacheStore, body = 'body'): Promise<void> {
  const writer = store.write(NAME, HEAD);
  writer.write(Buffer.from(body), () => undefined);
  writer.commit();
  await expect.poll(() => bodyOf(store), { timeout: 5000 }).toBe(body);
}

async function bodyOf(store: CacheStore): Promise<string | undefined> {
  const found = await store.find(NAME);
  if (found === undefined) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of found.body()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test('each of several who ask at the same time is given the answer', async () => {
  const store = createCacheStore({ folder, maxBytes: 64 * MIB });
  await store.secret();
  await kept(store);

  const found = await Promise.all(Array.from({ length: 4 }, () => bodyOf(store)));

  expect(found).toEqual(['body', 'body', 'body', 'body']);
});

test('what the forge takes back while somebody reads it is not kept', async () => {
  const store = createCacheStore({ folder, maxBytes: 64 * MIB });
  await store.secret();
  await kept(store);

  const reading = store.find(NAME);
  await Promise.resolve();
  await store.forget(NAME);
  await (await reading)?.close();

  expect(await store.find(NAME)).toBeUndefined();
  expect(await answers()).toEqual([]);
});

test('an answer that replaces another while many read that is whole', async () => {
  const store = createCacheStore({ folder, maxBytes: 64 * MIB });
  await store.secret();
  await kept(store);

  for (const body of ['a', 'longer', 'the longest of all']) {
    const readers = Array.from({ length: 20 }, () => bodyOf(store));
    await Promise.all([kept(store, body), ...readers]);
  }

  expect(await bodyOf(store)).toBe('the longest of all');
});

test('a folder that could not be opened is opened when it can be', async () => {
  await writeFile(folder, 'in its place');
  const store = createCacheStore({ folder, maxBytes: 64 * MIB });
  await expect(store.secret()).rejects.toThrow();
  await rm(folder);

  expect(await store.secret()).toHaveLength(32);
});
