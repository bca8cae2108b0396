import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { retriedStart } from '../../src/jobs/retried-start.ts';
import { createLog, type Log } from '../../src/log.ts';

const PAUSE_MS = 1000;

let warnings: string[];
let log: Log;

beforeEach(() => {
  vi.useFakeTimers();
  warnings = [];
  log = createLog('warn', (json) => {
    warnings.push((JSON.parse(json) as { reason: string }).reason);
  });
});

afterEach(() => vi.useRealTimers());

test('a start that fails keeps nobody waiting, and is tried again until it succeeds', async () => {
  let tries = 0;
  const begin = async (): Promise<void> => {
    await Promise.resolve();
    tries += 1;
    if (tries < 3) throw new Error(`no descriptor ${tries}`);
  };

  await retriedStart(begin, { log, stopping: new AbortController().signal })();
  expect(tries).toBe(1);
  await vi.advanceTimersByTimeAsync(10 * PAUSE_MS);

  expect(tries).toBe(3);
  expect(warnings).toEqual(['no descriptor 1', 'no descriptor 2']);
});

test('a daemon that stops tries no more', async () => {
  const stopping = new AbortController();
  const begin = vi.fn(() => Promise.reject(new Error('no descriptor')));

  await retriedStart(begin, { log, stopping: stopping.signal })();
  stopping.abort();
  await vi.advanceTimersByTimeAsync(10 * PAUSE_MS);

  expect(begin).toHaveBeenCalledOnce();
});
