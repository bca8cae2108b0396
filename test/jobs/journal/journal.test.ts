import { appendFile, mkdir, open, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeEach, expect, test } from 'vitest';

import { openJournalFile } from '../../../src/jobs/journal/journal-file.ts';
import { openJournal } from '../../../src/jobs/journal/journal.ts';
import { createJournalWriter } from '../../../src/jobs/journal/journal-writer.ts';
import { openMarks } from '../../../src/jobs/journal/job-marks.ts';
import { toLine } from '../../../src/jobs/journal/record.ts';
import { runCommand } from '../../device/command.ts';
import { bundledProgram } from '../../support/bundled-program.ts';
import { jobOf, savedIn } from '../job-of.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, 'jobs.jsonl');
});

test('what was saved is there when the journal is opened again, the newest record of each job, oldest job first', async () => {
  const journal = await openJournal(folder);
  await journal.save(jobOf('a'));
  await journal.save(jobOf('b'));
  await journal.save({ ...jobOf('a'), state: 'running' });
  await journal.close();

  const { jobs, close } = await openJournal(folder);

  expect(jobs).toMatchObject([{ ...jobOf('a'), state: 'running' }, jobOf('b')]);
  await close();
});

test('a forgotten job stays forgotten', async () => {
  const journal = await openJournal(folder);
  await Promise.all([journal.save(jobOf('a')), journal.save(jobOf('b')), journal.forget('a')]);
  await journal.close();

  expect(await savedIn(folder)).toEqual(['b']);
});

test('a saved record is in the file when save resolves', async () => {
  const journal = await openJournal(folder);

  await journal.save(jobOf('a'));

  expect((await readFile(file, 'utf8')).trimEnd()).toBe(toLine({ ...jobOf('a'), mark: 'mark-1' }));
  await journal.close();
});

test('a start writes nothing over the reserve, for which a full disk may have no room', async () => {
  const journal = await openJournal(folder);
  await journal.save(jobOf('a'));
  await journal.close();
  await utimes(file, 1, 1);
  // As a full disk, it lets nobody replace the file.
  await mkdir(`${file}.new`);

  await (await openJournal(folder)).close();

  expect((await stat(file)).mtimeMs).toBe(1000);
});

test('a start writes nothing to the flash while there are few lines that newer ones replaced', async () => {
  const journal = await openJournal(folder);
  const job = jobOf('a');
  await journal.save(job);
  await journal.save({ ...job, state: 'running' });
  await journal.close();
  const { ino } = await stat(file);
  await utimes(file, 1, 1);

  await (await openJournal(folder)).close();

  expect(await stat(file)).toMatchObject({ ino, mtimeMs: 1000 });
});

test('starts do not let the file grow: one with many such lines is made anew', async () => {
  await writeFile(file, `${toLine(jobOf('a', { mark: 'mark-1' }))}\n`.repeat(203));

  await (await openJournal(folder)).close();

  expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(1);
});

/** How a power cut may leave the end of the file. */
const TORN = [
  '{',
  '{"id":"torn"',
  JSON.stringify({ id: 'torn' }),
  '\0\0\0\0',
  '{"id":"torn"}garbage\n',
  '{"id":"torn\n\n\n\n',
  '\n',
];

test.each(TORN)('a file that ends in %j loses nothing before it, and goes on', async (torn) => {
  await writeFile(file, `${toLine(jobOf('a'))}\n${torn}`);

  const journal = await openJournal(folder);
  expect(journal.jobs).toMatchObject([jobOf('a')]);
  expect(journal.damaged).toEqual([]);
  await journal.save(jobOf('b'));
  await journal.close();

  expect(await savedIn(folder)).toEqual(['a', 'b']);
});

test('a record cut in the middle of a character is dropped', async () => {
  const line = Buffer.from(`${toLine({ ...jobOf('torn'), error: 'größe' })}\n`);
  await writeFile(file, `${toLine(jobOf('a'))}\n`);
  await appendFile(file, line.subarray(0, line.indexOf(0xc3) + 1));

  expect(await savedIn(folder)).toEqual(['a']);
});

test('what a rewrite cut short left behind is no harm', async () => {
  await writeFile(file, `${toLine(jobOf('a'))}\n`);
  await writeFile(`${file}.new`, '{"id":"half');

  expect(await savedIn(folder)).toEqual(['a']);
});

test('saves that come together share their writes, and all are kept', async () => {
  const written = await openJournalFile(file, 0);
  let writes = 0;
  const counted = {
    ...written,
    append: (...words: Parameters<typeof written.append>) => {
      writes += 1;
      return written.append(...words);
    },
  };
  const marks = openMarks(join(folder, 'job-marks'));
  const writer = createJournalWriter({ folder, file: counted, marks, jobs: [], lines: 0 });
  const saveAll = (): Promise<unknown> =>
    Promise.all(Array.from({ length: 500 }, (_, index) => writer.save(jobOf(`job-${index}`))));
  await saveAll();
  writes = 0;

  await saveAll();

  expect(writes).toBeGreaterThan(0);
  expect(writes).toBeLessThan(100);
  await writer.close();
  expect(await savedIn(folder)).toHaveLength(500);
});

test('a job saved over and over does not let the file grow', async () => {
  const journal = await openJournal(folder);
  await journal.save(jobOf('other'));
  for (let count = 0; count < 1000; count += 1) await journal.save({ ...jobOf('a'), runs: count });

  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean).length;
  expect(lines).toBeLessThan(250);
  await journal.close();
  const reopened = await openJournal(folder);
  expect(reopened.jobs.map(({ id, runs }) => [id, runs])).toEqual([
    ['other', 0],
    ['a', 999],
  ]);
  await reopened.close();
});

test('what is saved while the file is rewritten is not lost', async () => {
  const journal = await openJournal(folder);
  const jobs = Array.from({ length: 20 }, (_, index) => jobOf(`job-${index}`));
  for (let round = 1; round <= 60; round += 1) {
    await Promise.all(jobs.map((job) => journal.save({ ...job, runs: round })));
  }
  await journal.close();

  const reopened = await openJournal(folder);
  expect(reopened.jobs.map(({ runs }) => runs)).toEqual(jobs.map(() => 60));
  await reopened.close();
});

test('a job that is asked to stop while its end is being written has ended, also when the file is rewritten', async () => {
  const journal = await openJournal(folder);
  const running = { ...jobOf('a'), state: 'running' } as const;
  await journal.save(running);

  const ending = journal.saveEnd({ ...running, state: 'done', exitCode: 0, stoppedAt: 2 });
  await journal.save({ ...running, stopRequested: true }, true);
  await ending;
  await journal.compact();
  await journal.close();

  const reopened = await openJournal(folder);
  expect(reopened.jobs).toMatchObject([{ id: 'a', state: 'done' }]);
  await reopened.close();
});

test('nobody but the owner may read the records', async () => {
  const journal = await openJournal(join(folder, 'new'));

  expect((await stat(join(folder, 'new'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, 'new/jobs.jsonl'))).mode & 0o777).toBe(0o600);
  await journal.close();
});

test('a folder that cannot be written is named', async () => {
  await writeFile(join(folder, 'plain'), '');

  await expect(openJournal(join(folder, 'plain/state'))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(join(folder, 'plain/state')) as unknown,
  });
});

test('lines go to the file that has the name, also if its folder could not be synced when it was replaced', async () => {
  const source = join(import.meta.dirname, 'replace-without-descriptors.ts');

  const { stdout, stderr } = await runCommand(['node', await bundledProgram(source), file]);

  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({
    shortage: expect.stringContaining('EMFILE') as string,
    text: 'compacted\nsecond',
  });
});

test('what comes when the journal is closed reaches no file that has the number of its own now', async () => {
  const journal = await openJournalFile(file, 0);
  await journal.close();
  const other = await open(join(folder, 'other'), 'w+');

  await expect(journal.append('late\n', 100)).rejects.toThrow();

  expect(await other.readFile('utf8')).toBe('');
  await other.close();
});

test('a line whose company does not get to the medium is not there either, and its room is free again', async () => {
  const journal = await openJournalFile(file, 0);
  await journal.append('first\n', 100);

  const refused = journal.append('refused\n', 100, () => Promise.reject(new Error('EIO')));

  await expect(refused).rejects.toThrow('EIO');
  await journal.append('second\n', 100, () => Promise.resolve());
  await journal.close();
  expect((await readFile(file, 'utf8')).trimEnd()).toBe('first\nsecond');
});

test('a queued job that is on record without its mark does not run, and says why', async () => {
  const journal = await openJournal(folder);
  await journal.save(jobOf('a'));
  await journal.close();
  await rm(join(folder, 'job-marks/mark-1'));

  const { jobs, close } = await openJournal(folder);
  await close();

  expect(jobs).toMatchObject([
    {
      state: 'stopped',
      error: expect.stringContaining('the power went while it was accepted') as string,
    },
  ]);
});

test('at every moment there is room for the lines of a removal, should the disk be full', async () => {
  const journal = await openJournalFile(file, 0);
  let end = 0;
  for (let line = 0; line < 60; line += 1) {
    const text = `${'x'.repeat(1500)}\n`;
    await journal.append(text, 1000);
    end += text.length;

    expect((await stat(file)).size - end - 1000).toBeGreaterThanOrEqual(30_000);
  }
  await journal.close();
});
