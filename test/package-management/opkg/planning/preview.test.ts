import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { runCommand } from '../../../device/command.ts';
import { startDevice } from '../../../device/opkg-contract/start-device.ts';
import type { Problem } from '../../../../src/package-management/problem.ts';
import { createRandom, type Random } from '../../../support/random.ts';
import type { Device } from '../../../device/device.ts';
import { asTuple, drawFeed, drawRequest } from '../../../features/packages/drawn-packages.ts';
import { openHost, type OpkgHost } from '../open-host.ts';

/** The real program is fast enough for many. */
const REQUESTS = process.env.OPKG === undefined ? 40 : 300;
const REQUESTS_PER_FEED = 6;
const SEED = Number(process.env.SEED ?? 1);

test(`what opkg would do is what it does, for ${REQUESTS} drawn requests (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const counts = { done: 0, refused: 0, changes: 0 };
  for (let request = 0; request < REQUESTS; request += REQUESTS_PER_FEED) {
    await tryFeed(random, counts, Math.min(REQUESTS_PER_FEED, REQUESTS - request));
  }
  expect(counts.changes).toBeGreaterThan(REQUESTS / 6);
}, 600_000);

test('a chain of dependencies that has no end in sight is refused, and no fault', async () => {
  const device = await startDevice();
  const host = await openHost(device);
  const paragraphs = Array.from(
    { length: 20_000 },
    (_, index) =>
      `Package: p${index}\nVersion: 1\nDepends: p${index + 1}\nArchitecture: all\n` +
      `Filename: p${index}.ipk\nSize: 1\n\n`,
  );
  // In the order that leads on within one reading.
  await writeFile(join(device.root, 'var/opkg-lists/lab'), gzipSync(paragraphs.join('')));

  await expect(host.manager.preview({ verb: 'install', names: ['p0'] })).rejects.toMatchObject({
    message: expect.stringContaining('the feed lab says') as string,
    explanation: { code: 'plan_too_large' },
  });
});

async function tryFeed(
  random: Random,
  counts: { done: number; refused: number; changes: number },
  requests: number,
): Promise<void> {
  const device = await startDevice();
  const host = await openHost(device);
  let feed = drawFeed(random, 1);
  await offer(device, feed);
  for (let number = 1; number <= requests; number += 1) {
    if (random.below(3) === 0) {
      feed = drawFeed(random, number);
      await offer(device, feed);
    }
    const before = await present(device);
    if (random.below(4) === 0) {
      await device.opkg('flag', 'hold', random.pick(asTuple(Object.keys(before))));
    }
    const { operation, names } = drawRequest(random, Object.keys(before));
    const preview = await host.manager.preview({ verb: operation, names });
    const outcome = await changeBy(host, operation, names);
    const after = await present(device);
    const context = { SEED, operation, names, preview, outcome };
    expect({ ...context, now: applied(before, preview.changes) }).toEqual({
      ...context,
      now: after,
    });
    const isFine = preview.problems.every(endsWell);
    if (operation !== 'upgrade' || isFine) {
      expect({ ...context, isDone: outcome.code === 0 }).toEqual({ ...context, isDone: isFine });
    }
    counts.changes += preview.changes.length;
    counts[isFine ? 'done' : 'refused'] += 1;
  }
}

/** As `opkg update` would fetch it, which takes longer than all else of a request. */
async function offer(device: Device, feed: ReturnType<typeof drawFeed>): Promise<void> {
  device.feed.publish(feed);
  const list = await fetch(`${device.feed.url}/Packages.gz`);
  const folder = join(device.root, 'var/opkg-lists');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'lab'), Buffer.from(await list.arrayBuffer()));
}

/** opkg says nothing of it when it installs another package in the place of a name. */
function endsWell({ message }: Problem): boolean {
  return message.includes(' in the place of ');
}

async function changeBy(
  { manager }: OpkgHost,
  verb: 'install' | 'upgrade' | 'remove',
  names: readonly string[],
): ReturnType<typeof runCommand> {
  const { argv, environment, cwd } = manager.commands[verb](names);
  return runCommand(argv, { env: environment, cwd: cwd ?? '/' });
}

/** Versions by name; one that failed to come has a paragraph of its own. */
async function present(device: Device): Promise<Record<string, string>> {
  const status = (await device.read('usr/lib/opkg/status')) ?? '';
  const found = status.matchAll(
    /^Package: (\S+)\nVersion: (\S+)\n(?:.+\n)*?Status: \S+ \S+ (?:installed|unpacked)$/gm,
  );
  return Object.fromEntries(Array.from(found, ([, name = '', version = '']) => [name, version]));
}

function applied(
  before: Readonly<Record<string, string>>,
  changes: readonly { action: string; name: string; version: string }[],
): Record<string, string> {
  const versions = new Map(Object.entries(before));
  for (const { action, name, version } of changes) {
    if (action === 'remove') versions.delete(name);
    else versions.set(name, version);
  }
  return Object.fromEntries(versions);
}
