import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startUpdatedApkDevice } from '../../../device/apk-contract/start-apk-device.ts';
import { toApkPackage } from '../../../device/apk-device/apk-conversion.ts';
import type { ApkDevice } from '../../../device/apk-device/apk-device.ts';
import type { ApkFeedPackage } from '../../../device/apk-device/apk-index.ts';
import { runCommand } from '../../../device/command.ts';
import { createRandom, type Random } from '../../../support/random.ts';
import { drawFeed, drawRequest } from '../../../features/packages/drawn-packages.ts';
import { openApk } from '../open-apk.ts';

/** The real program is fast enough for more. */
const REQUESTS = process.env.APK === undefined ? 20 : 100;
const REQUESTS_PER_FEED = 5;
const SEED = Number(process.env.SEED ?? 1);

test(`what apk would do is what it does, for ${REQUESTS} drawn requests (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const counts = { done: 0, refused: 0, changes: 0 };
  for (let request = 0; request < REQUESTS; request += REQUESTS_PER_FEED) {
    await tryFeed(random, counts);
  }
  expect(counts.changes).toBeGreaterThan(REQUESTS / 6);
}, 600_000);

async function tryFeed(
  random: Random,
  counts: { done: number; refused: number; changes: number },
): Promise<void> {
  const device = await startUpdatedApkDevice();
  const manager = openApk(device);
  await mkdir(`${device.root}/etc/depotd/apk/empty`, { recursive: true });
  for (let number = 1; number <= REQUESTS_PER_FEED; number += 1) {
    if (number === 1 || random.below(3) === 0) {
      device.publishPackages(drawApkFeed(random, number));
      await device.apk('update');
    }
    const before = await versionsOn(device);
    const { operation, names } = drawRequest(random, Object.keys(before));
    const preview = await manager.preview({ verb: operation, names });
    const isFine = preview.problems.length === 0;
    counts[isFine ? 'done' : 'refused'] += 1;
    // A job would not begin.
    if (!isFine) continue;
    const { argv, environment, cwd } = manager.commands[operation](names);
    const outcome = await runCommand(argv, { env: environment, cwd: cwd ?? '/' });
    const context = { SEED, operation, names, preview, outcome };
    expect({ ...context, now: applied(before, preview.changes) }).toEqual({
      ...context,
      now: await versionsOn(device),
    });
    counts.changes += preview.changes.length;
  }
}

/** apk knows no alternatives. */
function drawApkFeed(random: Random, release: number): ApkFeedPackage[] {
  return drawFeed(random, release, 0.2).map((source) => {
    const { Depends = '', ...fields } = source.fields ?? {};
    const depends = Depends.replace(/ \| [^,]+/g, '');
    return toApkPackage({ ...source, fields: { ...fields, Depends: depends } });
  });
}

async function versionsOn(device: ApkDevice): Promise<Record<string, string>> {
  const entries = [...(await device.database())].map(([name, { version }]) => [name, version]);
  return Object.fromEntries(entries.sort()) as Record<string, string>;
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
  return Object.fromEntries([...versions].sort());
}
