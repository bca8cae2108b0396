import { expect, onTestFinished, test, vi } from 'vitest';
import type { Notes } from '../../../src/device/ports.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { createRestoreDue } from '../../../src/features/backup/restore-due.ts';
import { createResumption } from '../../../src/features/backup/resumption.ts';

/** Restores that are begun end by the next of these codes; without one they do not end. */
async function openResumption(errorCodes: (string | undefined)[], onRecord: Partial<Job>[] = []) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let noted: unknown = { backup: 'set-1' };
  const notes: Pick<Notes, 'read' | 'write'> = {
    read: () => Promise.resolve(noted),
    write: (_, value) => Promise.resolve(void (noted = value)),
  };
  const due = createRestoreDue(notes);
  let onChange: (job: Job) => void = () => undefined;
  const queue = {
    all: () => onRecord,
    onChange: (listener: (job: Job) => void) => {
      onChange = listener;
      return () => undefined;
    },
  };
  let begun = 0;
  const submit = (): Promise<void> => {
    begun += 1;
    if (errorCodes.length > 0) {
      onChange({ kind: 'restore', state: 'failed', errorCode: errorCodes.shift() } as Job);
    }
    return Promise.resolve();
  };
  const sets = { find: () => Promise.resolve({ manifest: { made_at: 0 } }) };
  const resumption = createResumption({ queue, submit, sets, due } as never);
  await resumption.start();
  return { resumption, begun: () => begun, change: (job: Partial<Job>) => onChange(job as Job) };
}

const HOUR_MS = 3_600_000;

test('a restore waits without limit for a network that comes later than the daemon', async () => {
  const { resumption, begun } = await openResumption(Array<string>(20).fill('no_lists'));

  await vi.advanceTimersByTimeAsync(59_000);
  expect(begun()).toBe(1);
  await vi.advanceTimersByTimeAsync(2000);
  expect(begun()).toBe(2);
  expect(resumption.isWaiting()).toBe(true);
  await vi.advanceTimersByTimeAsync(12 * HOUR_MS);

  expect(begun()).toBe(21);
  expect(resumption.isWaiting()).toBe(false);
});

test('one that fails for another reason is for the next start', async () => {
  const { resumption, begun } = await openResumption(['no_lists', 'no_space']);

  await vi.advanceTimersByTimeAsync(12 * HOUR_MS);

  expect(begun()).toBe(2);
  expect(resumption.isWaiting()).toBe(false);
});

test('one that a boot cut short ends first: begun beside it, it would be taken for the same', async () => {
  const job: Partial<Job> = { kind: 'restore', state: 'running', phase: 'repair' };
  const { begun, change } = await openResumption([], [job]);
  expect(begun()).toBe(0);

  change({ ...job, state: 'interrupted', errorCode: 'interrupted' });
  await vi.advanceTimersByTimeAsync(1);

  expect(begun()).toBe(1);
});
