import type { TestDaemon } from '../device/daemon.ts';
import { median, report, timed } from './measures.ts';

const REQUESTS = 200;
const AT_ONCE = 8;

/**
 * `status` asked 200 times, 8 at a time, while an install runs: right answers and how long each
 * took.
 */
export async function benchReads(daemon: TestDaemon): Promise<void> {
  const task = await daemon.submit('install', { package: 'slow' });
  const times: number[] = [];
  let right = 0;
  let left = REQUESTS;
  const ask = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { value, ms } = await timed(async () =>
        (await daemon.get('admin/store/status?package=libc')).json(),
      );
      times.push(ms);
      if ((value as { installed: boolean }).installed) right += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  report('status under install', {
    right,
    of: REQUESTS,
    'median ms': median(times),
    'slowest ms': Math.max(...times),
  });
  await daemon.finished(task);
}
