import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { createApkDevice, type ApkDevice } from '../device/apk-device/apk-device.ts';
import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { cpuSeconds, median, report, timed } from './measures.ts';

/**
 * `APK=/path/to/apk node --import tsx test/bench/apk.ts`: depotd beside apk, in one run on one machine.
 * The figures are printed, not judged: machines differ. Installations are in installs.ts.
 */
const PACKAGES = 2000;
const CHANGES = 20;
const IDLE_MS = 10_000;

const device = await createApkDevice();
await device.apk('update');
const daemon = await startDaemon(device, { set: ['main.keep_jobs=100'] });
try {
  await benchReading(device, daemon);
  await benchWatch(daemon);
} finally {
  await daemon.close();
  await device.close();
}

/** How long after a change by somebody else the answer has it. */
async function benchReading({ root }: ApkDevice, { get }: TestDaemon): Promise<void> {
  const file = join(root, 'lib/apk/db/installed');
  const before = await readFile(file, 'utf8');
  const others = Array.from({ length: PACKAGES }, (_, index) =>
    entryOf(`filler-${index}`, '1.0-r0'),
  );
  const times: number[] = [];
  for (let change = 1; change <= CHANGES; change += 1) {
    await writeFile(`${file}.new`, before + others.join('') + entryOf('changing', `${change}-r0`));
    await rename(`${file}.new`, file);
    const seen = async (): Promise<void> => {
      for (;;) {
        const answer = await get('admin/store/status?package=changing');
        const { version } = (await answer.json()) as { version?: string };
        if (version === `${change}-r0`) return;
        await delay(1);
      }
    };
    times.push((await timed(seen)).ms);
    await delay(500);
  }
  report('a change seen', {
    packages: PACKAGES,
    'median ms': median(times),
    'slowest ms': Math.max(...times),
  });
}

/** A record as apk writes it, with five files. */
function entryOf(name: string, version: string): string {
  const files = Array.from(
    { length: 5 },
    (_, index) => `R:${name}-${index}\nZ:Q1${'A'.repeat(27)}=\n`,
  );
  return `C:Q1${'B'.repeat(27)}=\nP:${name}\nV:${version}\nA:noarch\nS:1000\nI:1000\nT:${name}\nD:libc\nF:usr/share/${name}\n${files.join('')}\n`;
}

async function benchWatch({ pid }: TestDaemon): Promise<void> {
  await delay(3000);
  const before = cpuSeconds(pid);
  await delay(IDLE_MS);
  report('the watch at rest', { 'CPU s': cpuSeconds(pid) - before, 'in s': IDLE_MS / 1000 });
}
