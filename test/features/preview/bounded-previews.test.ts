import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cpuSeconds } from '../../bench/measures.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { drawnLists } from '../packages/drawn-lists.ts';
import { DENSE_LISTS } from '../packages/hostile-lists.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { planOf } from './preview-answer.ts';

const LIST_BYTES = 1024 ** 2;
/** What the daemon has of it at rest; a plan that kept more than 20 MB would end it. */
const REST_MB = 12;
const HEAP_MB = REST_MB + 20;
const MOST_SECONDS = 5;
const AT_REST_MS = 1500;
const RUNS = Number(process.env.RUNS ?? 25);
const SEED = Number(process.env.SEED ?? 1);

let store: Store;
beforeAll(async () => {
  const device = { packages: [simplePackage('p0', { version: '0.1' })], hasUsual: false };
  store = await openStore(device, {
    nodeFlags: [`--max-old-space-size=${HEAP_MB}`, '--v8-pool-size=1'],
  });
  await store.run('install', { package: 'p0' });
  // A second after the start its garbage has gone, and V8 has been told to keep less.
  await delay(AT_REST_MS);
  while ((await heapMb()) >= REST_MB) await delay(AT_REST_MS);
});
afterAll(() => store.close());

async function heapMb(): Promise<number> {
  const metrics = await (await store.daemon.get('/metrics')).text();
  const [, bytes] = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics) ?? [];
  return Number(bytes) / 1024 ** 2;
}

/** @returns how many plans were too large */
async function planAll(list: string): Promise<number> {
  await writeFile(join(store.device.root, 'var/opkg-lists/lab'), gzipSync(list));
  let tooLarge = 0;
  for (const operation of ['install', 'upgrade', 'remove']) {
    const before = cpuSeconds(store.daemon.pid);
    const { problems } = await planOf(store.daemon, operation, 'p0');
    expect(cpuSeconds(store.daemon.pid) - before).toBeLessThan(MOST_SECONDS);
    if (problems.some(({ code }) => code === 'plan_too_large')) tooLarge += 1;
  }
  return tooLarge;
}

const DENSE = Object.entries(DENSE_LISTS).map(([shape, list]) => ({ shape, list }));
test.each(DENSE)('no plan takes more than 20 MB or 5 s by $shape', async ({ list }) => {
  const text = list();
  expect(text.length).toBeLessThan(LIST_BYTES);

  expect(await planAll(text)).toBeLessThanOrEqual(2);
});

test(`no list of 1 MB takes more than 20 MB or 5 s of a plan (SEED=${SEED})`, async () => {
  let tooLarge = 0;
  const isBounded = async (list: string): Promise<void> => {
    tooLarge += await planAll(list);
  };

  const property = fc.asyncProperty(drawnLists(LIST_BYTES), isBounded);
  // A list that ended the daemon cannot be made smaller: the daemon is gone.
  await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });

  expect(tooLarge).toBeGreaterThan(0);
}, 120_000);
