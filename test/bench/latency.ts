import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestDaemon } from '../device/daemon.ts';
import type { Device } from '../device/device.ts';
import { median, report } from './measures.ts';

const WRITES = 100;

/** From a write to a running job's log to its event at a client. */
export async function benchLatency({
  daemon,
  device,
}: {
  daemon: TestDaemon;
  device: Device;
}): Promise<void> {
  await daemon.finished(await daemon.submit('remove', { package: 'slow' }));
  const task = await daemon.submit('install', { package: 'slow' });
  const abort = new AbortController();
  const answer = await fetch(
    `${daemon.url}${daemon.base}/admin/system/tasks/events?task_id=${task}`,
    { signal: abort.signal },
  );
  const arrivals = new Map<string, number>();
  const reading = readMarks(answer, arrivals).catch(() => undefined);
  const file = join(device.root, 'var/log/depotd', `${task}.log`);
  const writes = new Map<string, number>();
  await delay(300);
  for (let index = 0; index < WRITES; index += 1) {
    const mark = `mark-${index}-`;
    writes.set(mark, performance.now());
    await appendFile(file, `${mark}\n`);
    await delay(10);
  }
  await delay(200);
  abort.abort();
  await reading;
  const times = [...writes].map(([mark, at]) => (arrivals.get(mark) ?? Infinity) - at);
  report('write to event', {
    'median ms': median(times),
    'slowest ms': Math.max(...times),
    arrived: arrivals.size,
    of: WRITES,
  });
  await daemon.finished(task);
}

async function readMarks(answer: Response, arrivals: Map<string, number>): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    const now = performance.now();
    for (const [mark] of decoder.decode(chunk).matchAll(/mark-\d+-/g)) {
      if (!arrivals.has(mark)) arrivals.set(mark, now);
    }
  }
}
