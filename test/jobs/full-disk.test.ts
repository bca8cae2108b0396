import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { createProcesses } from '../../src/device/processes.ts';
import type { Job } from '../../src/jobs/job.ts';
import { openJournal } from '../../src/jobs/journal/journal.ts';
import type { Plan } from '../../src/jobs/plan.ts';
import type { Queue } from '../../src/jobs/queue.ts';
import { runCommand } from '../device/command.ts';
import { openQueue, request, type OpenQueue } from './open-queue.ts';
import { submitTo } from './queue-of-test.ts';
import { jobOf, savedIn } from './job-of.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What makes a record longer than what is left on a full disk. */
const LARGE: Partial<Job> = { params: { fill: 'x'.repeat(60_000) } };

let folder: string;
let filler: string;
let open: OpenQueue;

/** Until the file is there, or the folder has gone with its test. */
const UNTIL_GO = 'until [ -e go ] || ! [ -d state ]; do sleep 0.02; done';
/** Takes all that is left, page by page. */
const fill = (): Promise<void> => writeFile(filler, Buffer.alloc(1024 ** 2)).catch(() => undefined);
const free = (): Promise<void> => rm(filler, { force: true });

describe.skipIf(process.getuid?.() !== 0)('where the disk of the records is full', () => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'depotd-full-'));
    filler = join(folder, 'filler');
    expect(
      await runCommand(['mount', '-t', 'tmpfs', '-o', 'size=768k,mode=0700', 'tmpfs', folder]),
    ).toMatchObject({ code: 0 });
  });

  afterEach(async () => {
    await runCommand(['umount', '-l', folder]);
    await rm(folder, { recursive: true, force: true });
  });

  test('a job is refused, and what is saved when there is room again is not lost behind the half of its record', async () => {
    const journal = await openJournal(folder);
    await journal.save(jobOf('a'));
    await fill();

    await expect(journal.save(jobOf('refused', LARGE))).rejects.toMatchObject({
      code: 'no_space',
    });
    await free();
    await journal.save(jobOf('b'));

    expect(await savedIn(folder)).toEqual(['a', 'b']);
  });

  test('a job that was refused does not come to be when the file is rewritten', async () => {
    const journal = await openJournal(folder);
    await fill();
    await expect(journal.save(jobOf('refused', LARGE))).rejects.toMatchObject({
      code: 'no_space',
    });
    await free();

    for (let step = 0; step < 300; step += 1) await journal.save({ ...jobOf('a'), runs: step });

    expect(await savedIn(folder)).toEqual(['a']);
  });

  test('a daemon starts all the same, knows its jobs, and takes new ones when there is room', async () => {
    const first = await openJournal(folder);
    await first.save(jobOf('a', LARGE));
    await first.close();
    await writeFile(join(folder, 'jobs.jsonl'), '{"id":"torn', { flag: 'a' });
    await fill();

    const journal = await openJournal(folder);

    expect(journal.jobs.map(({ id }) => id)).toEqual(['a']);
    await expect(stat(join(folder, 'jobs.jsonl.new'))).rejects.toThrow('ENOENT');
    await free();
    await journal.save(jobOf('b'));
    expect(await savedIn(folder)).toEqual(['a', 'b']);
  });
});

describe.skipIf(process.getuid?.() !== 0)(
  'a job under which the disk of the records fills up',
  () => {
    /** Longer than what the file has room for beside its reserve. */
    const LONG = { fill: 'x'.repeat(60_000) };

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'depotd-full-'));
      filler = join(folder, 'state/filler');
      await mkdir(join(folder, 'state'));
      expect(
        await runCommand([
          'mount',
          '-t',
          'tmpfs',
          '-o',
          'size=768k,mode=0700',
          'tmpfs',
          join(folder, 'state'),
        ]),
      ).toMatchObject({ code: 0 });
      open = await openQueue(folder);
    });

    afterEach(async () => {
      open.queue.close();
      await open.journal.close();
      await runCommand(['umount', '-l', join(folder, 'state')]);
      // What was stopped may write its last line meanwhile.
      await rm(folder, { recursive: true, force: true, maxRetries: 20 });
    });

    const FILL = 'head -c 1000000 /dev/zero >state/filler; true';

    test('ends with the exit code that it had, for the next daemon too', async () => {
      const job = await submit({ ...LONG, 1: FILL });
      expect(await ended(open.queue, job)).toMatchObject({ state: 'done', exitCode: 0 });

      expect(await ended(await reopen(), job)).toMatchObject({ state: 'done', exitCode: 0 });
    });

    test('begins no further command, and leaves nothing waiting for one', async () => {
      const job = await submit({ ...LONG, 1: FILL, 2: 'echo ran >>effects' });

      expect(await ended(open.queue, job)).toMatchObject({
        state: 'failed',
        error: expect.stringContaining('cannot write job records') as unknown,
      });
      expect((await createProcesses().jobsUnderWay()).has(job.id)).toBe(false);
      await expect(readFile(join(folder, 'effects'))).rejects.toThrow('ENOENT');
    });

    test('stays failed after a restart if it could not begin, and does not run then', async () => {
      const first = await submit({ 1: UNTIL_GO });
      const job = await submit({ ...LONG, 1: 'echo ran >>effects' }, 'b');
      await fill();
      await writeFile(join(folder, 'go'), '');
      await ended(open.queue, first);
      expect(await ended(open.queue, job)).toMatchObject({ state: 'failed' });

      await free();
      const next = await reopen();

      expect(next.get(job.id)).toMatchObject({
        state: 'failed',
        error: expect.stringContaining('cannot write job records') as unknown,
      });
      await expect(readFile(join(folder, 'effects'))).rejects.toThrow('ENOENT');
    });

    test('stays stopped after a restart if it was stopped while it waited, also as one of twenty', async () => {
      const first = await submit({ 1: UNTIL_GO });
      const waiting: Job[] = [];
      for (let count = 0; count < 20; count += 1) {
        waiting.push(await submit({ 1: 'echo ran >>effects' }, `waiting-${count}`));
      }
      await fill();
      await Promise.all(waiting.map(({ id }) => open.queue.stop(id)));
      expect(waiting.map(({ state }) => state)).toEqual(waiting.map(() => 'stopped'));

      await free();
      const next = await reopen();
      await writeFile(join(folder, 'go'), '');

      expect(waiting.map(({ id }) => next.get(id))).toMatchObject(
        waiting.map(() => ({ state: 'stopped', exitCode: 143 })),
      );
      await ended(next, first);
      await expect(readFile(join(folder, 'effects'))).rejects.toThrow('ENOENT');
    });

    test('is refused while there is no room for its end, and taken when there is', async () => {
      await fill();

      await expect(submit(LONG)).rejects.toMatchObject({ code: 'no_space' });
      expect(open.queue.all()).toEqual([]);
      await free();

      expect(await ended(open.queue, await submit({ 1: 'true' }))).toMatchObject({ state: 'done' });
    });

    test('is repaired step by step, though no step can be put on record', async () => {
      open.queue.close();
      open = await openQueue(folder, { changePlan: recordActs });
      const notes = { r1: 'tell', r2: 'tell', r3: 'tell', r4: 'tell' };

      const job = await submit({ ...LONG, 1: `${FILL}; exit 3`, ...notes });

      expect(await ended(open.queue, job)).toMatchObject({ state: 'failed', exitCode: 3 });
      const log = (await open.logs.read(job.id, 0, 10_000)).toString();
      expect(log.match(/r\d is told/g)).toEqual(['r1', 'r2', 'r3', 'r4'].map(noteOf));
    });

    test('is waited for by a daemon that comes while the disk is still full', async () => {
      const job = await submit({
        ...LONG,
        1: `${FILL}; ${UNTIL_GO}; exit 7`,
      });
      await expect
        .poll(() =>
          stat(filler).then(
            ({ size }) => size,
            () => 0,
          ),
        )
        .toBeGreaterThan(50_000);

      const next = await reopen();
      expect(next.get(job.id)?.state).toBe('running');
      await writeFile(join(folder, 'go'), '');

      expect(await ended(next, job)).toMatchObject({ state: 'failed', exitCode: 7 });
    });
  },
);

test.skipIf(process.getuid?.() !== 0).each([
  [0, 'done'],
  [7, 'failed'],
])(
  'a command before which the disk of the logs was full ends with its code %i',
  async (exitCode, state) => {
    folder = await temporaryFolder();
    const logs = join(folder, 'logs');
    open = await openQueue(folder);
    await runCommand(['mount', '-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', logs]);
    onTestFinished(async () => {
      open.queue.close();
      await open.journal.close();
      await runCommand(['umount', '-l', logs]);
    });
    filler = join(logs, 'filler');
    await fill();

    const job = await submit({ 1: `sleep 0.1; exit ${exitCode}` });

    expect(await ended(open.queue, job)).toMatchObject({ state, exitCode });
  },
);

function recordActs({ steps, repair, ...plan }: Plan): Plan {
  const recorded = repair.map((step) => ('act' in step ? { ...step, isRecorded: true } : step));
  return { ...plan, steps, repair: recorded };
}

function noteOf(step: string): string {
  return `${step} is told`;
}

async function submit(params: Record<string, string>, subject = 'demo'): Promise<Job> {
  return submitTo(open.queue, request(subject, params));
}

/** What the next daemon makes of the records. */
async function reopen(): Promise<Queue> {
  open.queue.close();
  // The daemon before it has gone: it must not put an end on record, and remove what tells of it.
  await open.journal.close();
  open = await openQueue(folder);
  open.queue.resume();
  return open.queue;
}

async function ended(queue: Queue, { id }: Job): Promise<Job | undefined> {
  await expect.poll(() => queue.get(id)?.logBytes, { timeout: 20_000 }).toBeDefined();
  return queue.get(id);
}
