import { appendFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { toLine } from '../../../src/jobs/journal/record.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { cpuSeconds, residentMb } from '../../bench/measures.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { jobOf } from '../job-of.ts';

/** A daemon as the start script has it, on job records that were damaged before. */
async function startOn(damage: (file: string) => Promise<void>): Promise<TestDaemon> {
  const device = await createDevice();
  onTestFinished(() => device.close());
  await (await startDaemon(device)).close();
  await damage(join(device.root, 'etc/depotd/jobs.jsonl'));
  const daemon = await startDaemon(device, { nodeFlags: ['--max-old-space-size=64'] });
  onTestFinished(() => void daemon.kill('SIGKILL'));
  return daemon;
}

test('a tail of zeros that a power cut left is not read into memory, however long', async () => {
  const daemon = await startOn(async (file) => {
    await appendFile(file, `${toLine(jobOf('a'.repeat(32)))}\n`);
    await truncate(file, 500 * 1024 ** 2);
  });

  expect((await daemon.status('a'.repeat(32))).kind).toBe('install');
  expect(residentMb(daemon.pid, 'VmHWM')).toBeLessThan(150);
});

test.each(['queued', 'done'] as const)(
  'a start survives 2,000 jobs that are %s, of 30 kB each, within its heap',
  async (state) => {
    const ended = state === 'done' ? { exitCode: 0, stoppedAt: 2 } : {};
    const line = (index: number): string =>
      toLine({
        ...jobOf(index.toString(16).padStart(32, '0')),
        ...ended,
        state,
        params: { package: `p${index}${'x'.repeat(30_000)}` },
      } satisfies Job);
    const lines = Array.from({ length: 2000 }, (_, index) => `${line(index)}\n`);

    const daemon = await startOn((file) => writeFile(file, lines.join('')));

    expect((await daemon.get('/healthz')).status).toBe(200);
  },
);

test.each(['{"id":"x"}', 'garbage'])(
  'a start survives millions of lines "%s", which are no records, within seconds and its heap',
  async (line) => {
    const daemon = await startOn(async (file) => {
      await writeFile(file, Buffer.alloc(33 * 1024 ** 2, `${line}\n`));
      await appendFile(file, `\n${toLine(jobOf('a'.repeat(32)))}\n`);
    });

    // Of its processor: a machine that is busy with something else may be slow.
    expect(cpuSeconds(daemon.pid)).toBeLessThan(15);
    expect((await daemon.status('a'.repeat(32))).kind).toBe('install');
    expect(residentMb(daemon.pid, 'VmHWM')).toBeLessThan(180);
  },
  120_000,
);
