import { expect, test } from 'vitest';

import type { Processes, ProcessMark } from '../../src/device/ports.ts';
import { endProcesses } from '../../src/jobs/stopping.ts';

const MARK: ProcessMark = { pid: 1, startTicks: 1, bootId: '', isOnTerminal: false };

test('what takes its time to end is looked for less and less often', async () => {
  const since = performance.now();
  let looks = 0;
  const processes: Partial<Processes> = {
    signal: () => Promise.resolve(1),
    count: () => Promise.resolve(0),
    isAlive: () => {
      looks += 1;
      return Promise.resolve(performance.now() - since < 2000);
    },
  };

  await endProcesses(processes as Processes, { jobId: 'a', mark: MARK });

  expect(looks).toBeLessThan(16);
});
