import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Job } from '../../../src/jobs/job.ts';
import { openMarks } from '../../../src/jobs/journal/job-marks.ts';
import { openJournal } from '../../../src/jobs/journal/journal.ts';
import { toLine } from '../../../src/jobs/journal/record.ts';
import { jobOf } from '../job-of.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
beforeEach(async () => (folder = await temporaryFolder()));
const ENDED = { state: 'done', exitCode: 0, stoppedAt: 2 } as const;
const marks = (): Promise<string[]> => readdir(join(folder, 'job-marks'));

describe('a job whose end cannot be written any more', () => {
  test('loses its mark, and does not run again', async () => {
    const journal = await openJournal(folder);
    await journal.save(jobOf('queued'));
    await journal.save({ ...jobOf('running'), state: 'running' });
    await journal.save(jobOf('other'));
    expect(await marks()).toHaveLength(3);
    // As on a medium that refuses every write.
    await journal.close();

    const end = { exitCode: 1, stoppedAt: 2 };
    const ends = [
      { ...jobOf('queued'), ...end, state: 'stopped' },
      { ...jobOf('running'), ...end, state: 'failed' },
    ] as const;
    for (const job of ends) expect(await journal.saveEnd(job)).toBe('marked');
    expect(await marks()).toHaveLength(1);

    const next = await openJournal(folder);
    expect(next.jobs).toMatchObject([
      { id: 'queued', state: 'stopped', exitCode: 143 },
      { id: 'running', state: 'failed', error: expect.stringContaining('no room') as unknown },
      { id: 'other', state: 'queued' },
    ]);
    await next.close();
  });

  test('is believed where all marks are gone, as after a restore of the records alone', async () => {
    const journal = await openJournal(folder);
    await journal.save(jobOf('a'));
    await journal.close();
    await rm(join(folder, 'job-marks'), { recursive: true });

    const next = await openJournal(folder);

    expect(next.jobs).toMatchObject([{ id: 'a', state: 'queued' }]);
    expect(await marks()).toHaveLength(1);
    await next.close();
  });

  test('has lost it for a depotd that gave marks the names of jobs, too', async () => {
    const [there, lost] = ['there', 'lost'].map((id) => ({ ...jobOf(id), isMarked: true }));
    await writeFile(
      join(folder, 'jobs.jsonl'),
      [there, lost].map((job) => `${toLine(job as Job)}\n`).join(''),
    );
    await mkdir(join(folder, 'job-marks'));
    await writeFile(join(folder, 'job-marks/there'), '');

    const journal = await openJournal(folder);

    expect(journal.jobs).toMatchObject([
      { id: 'there', state: 'queued' },
      { id: 'lost', state: 'stopped' },
    ]);
    await journal.saveEnd({ ...(journal.jobs[0] as Job), ...ENDED });
    await expect.poll(marks).toEqual([]);
    await journal.close();
  });
});

test('a job has the mark of one that has ended, and never that of one that has not', async () => {
  const journal = await openJournal(folder);
  await journal.save(jobOf('a'));
  const [first] = await marks();
  await journal.save(jobOf('b'));
  await journal.saveEnd({ ...jobOf('a'), ...ENDED });
  await journal.saveEnd({ ...jobOf('a'), ...ENDED });
  const two = await marks();
  expect(two).toHaveLength(2);

  await journal.save(jobOf('c'));
  expect(await marks()).toEqual(two);
  await journal.save(jobOf('d'));

  expect(await marks()).toHaveLength(3);
  await journal.close();
  await rm(join(folder, 'job-marks', first ?? ''));
  const next = await openJournal(folder);
  expect(next.jobs.map(({ id, state }) => [id, state])).toEqual([
    ['a', 'done'],
    ['b', 'queued'],
    ['c', 'stopped'],
    ['d', 'queued'],
  ]);
  await next.close();
});

describe('no job gets the mark that the record of another names', () => {
  test('where all marks are gone', async () => {
    const journal = await openJournal(folder);
    await journal.save(jobOf('a'));
    await journal.close();
    await rm(join(folder, 'job-marks'), { recursive: true });

    const next = await openJournal(folder);
    await next.save(jobOf('b'));
    await next.close();

    expect(await marks()).toHaveLength(2);
  });

  test('which has ended, and there was no room to record that', async () => {
    const journal = await openJournal(folder);
    await journal.save(jobOf('a'));
    await journal.close();
    expect(await journal.saveEnd({ ...jobOf('a'), ...ENDED })).toBe('marked');
    // The records cannot be replaced.
    await mkdir(join(folder, 'jobs.jsonl.new/any'), { recursive: true });
    const second = await openJournal(folder);
    await second.save(jobOf('b'));
    await second.close();

    const third = await openJournal(folder);

    expect(third.jobs).toMatchObject([
      { id: 'a', state: 'stopped' },
      { id: 'b', state: 'queued' },
    ]);
    await third.close();
  });
});

describe('a job has a mark as it is only if that is on the medium', () => {
  const openNew = async (): Promise<ReturnType<typeof openMarks>> => {
    const opened = openMarks(join(folder, 'job-marks'));
    await opened.make([opened.give('a').mark]);
    return opened;
  };

  test('and not if its removal was tried', async () => {
    const opened = await openNew();
    await opened.sync();
    // As if the removal could not be synced.
    await rm(join(folder, 'job-marks'), { recursive: true });
    expect(await opened.remove('a')).toBe(false);

    opened.release('a');

    expect(opened.give('b').isNew).toBe(true);
  });

  test('and not if a depotd that was killed may have made it in its last moment', async () => {
    await openNew();
    const opened = openMarks(join(folder, 'job-marks'));
    opened.adopt([]);

    const { mark, isNew } = opened.give('b');
    expect([mark, isNew]).toEqual(['mark-1', true]);
    await opened.make([mark]);
    await opened.sync();
    opened.release('b');

    expect(opened.give('c')).toEqual({ mark, isNew: false });
  });
});

test('the marks of jobs that are forgotten are there for others, those of a daemon before go', async () => {
  const journal = await openJournal(folder);
  await journal.save(jobOf('a'));
  await journal.saveEnd({ ...jobOf('a'), ...ENDED });
  const made = await marks();
  await journal.forget('a');
  await journal.save(jobOf('b'));

  expect(await marks()).toEqual(made);
  await journal.close();
  await writeFile(join(folder, 'job-marks/old'), '');
  for (let count = 10; count < 30; count += 1) {
    await writeFile(join(folder, `job-marks/mark-${count}`), '');
  }
  await (await openJournal(folder)).close();
  await expect.poll(marks).toHaveLength(5);
  expect(await marks()).toContain(made[0]);
});
