import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { openJournal } from '../../../src/jobs/journal/journal.ts';
import { toLine } from '../../../src/jobs/journal/record.ts';
import { runCommand } from '../../device/command.ts';
import { bundledProgram } from '../../support/bundled-program.ts';
import { jobOf } from '../job-of.ts';
import { openQueue, request } from '../open-queue.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const JOURNAL = await bundledProgram(
  join(import.meta.dirname, '../../../src/jobs/journal/journal.ts'),
);

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, 'jobs.jsonl');
});

const ID = 'd'.repeat(32);
const WHOLE = { ...JSON.parse(toLine(jobOf(ID))) } as Record<string, unknown>;
const without = (name: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(WHOLE).filter(([key]) => key !== name));
const nested = (depth: number): string =>
  JSON.stringify(WHOLE).replace(
    '"memory":{}',
    `"memory":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  );

const NEEDED = ['kind', 'lane', 'subject', 'params', 'command', 'state', 'createdAt', 'phase'];
const DAMAGED: [string, string, string][] = [
  ...[...NEEDED, 'done', 'format', 'runs', 'resumes', 'memory'].map(
    (name): [string, string, string] => [
      `without ${name}`,
      JSON.stringify(without(name)),
      `"${name}" is missing or wrong`,
    ],
  ),
  ['with an id alone', JSON.stringify({ id: ID }), '"format" is missing or wrong'],
  [
    'that has ended, without its end',
    JSON.stringify({ ...WHOLE, state: 'done' }),
    'its end is missing or wrong',
  ],
  ['in a state that there is not', JSON.stringify({ ...WHOLE, state: 'lost' }), '"state"'],
  ['with a number as parameter', JSON.stringify({ ...WHOLE, params: { a: 1 } }), '"params.a"'],
  [
    'of the first of all processes',
    JSON.stringify({ ...WHOLE, process: markOf(1) }),
    '"process.pid"',
  ],
  ['nested 100 deep', nested(100), 'it is nested too deeply'],
  ['nested 100,000 deep', nested(100_000), 'it is nested too deeply'],
];

test.each([
  ['a folder', 'jobs.jsonl', 'mkdir'],
  ['a fifo', 'jobs.jsonl', 'mkfifo'],
  ['a fifo', 'job-marks', 'mkfifo'],
])('%s in the place of %s is moved aside, and told', async (_, name, program) => {
  await rm(join(folder, name), { force: true });
  await runCommand([program, join(folder, name)]);

  const journal = await openJournal(folder);
  await journal.save(jobOf('a'));
  await journal.close();

  expect(journal.damaged).toMatchObject([{ damage: expect.stringContaining(name) as string }]);
  expect(journal.jobs).toMatchObject([{ state: 'failed', isDamaged: true }]);
  expect(await readdir(folder)).toContain(`${name}.damaged`);
});

test.each(DAMAGED)(
  'a record %s is set aside and a failed job says so; every other job is there',
  async (_, line, reason) => {
    await writeFile(file, `${toLine(jobOf('a'))}\n${line}\n${toLine(jobOf('b'))}\n`);

    const journal = await openJournal(folder);

    expect(journal.jobs).toMatchObject([
      { id: 'a', state: 'queued' },
      { id: ID, state: 'failed', exitCode: 1, isDamaged: true },
      { id: 'b', state: 'queued' },
    ]);
    expect(journal.jobs[1]?.error).toContain(reason);
    expect(journal.damaged).toMatchObject([{ id: ID, number: 2 }]);
    expect(await readFile(join(folder, 'jobs.damaged.jsonl'), 'utf8')).toContain(
      line.slice(0, 1000),
    );
    await journal.close();
    const next = await openJournal(folder);
    expect(next.jobs.map(({ id }) => id)).toEqual(['a', ID, 'b']);
    expect(next.damaged).toEqual([]);
    await next.close();
  },
);

const NO_RECORDS = ['null', '[]', '7', '"text"', '{}', '{"id":"../x"}', '{"id":7}', '<html>'];

test.each(NO_RECORDS)(
  'a line that is %s among the records is told, by its number',
  async (line) => {
    await writeFile(file, `${toLine(jobOf('a'))}\n${line}\n${toLine(jobOf('b'))}\n`);

    const journal = await openJournal(folder);

    expect(journal.damaged).toMatchObject([{ number: 2 }]);
    expect(journal.jobs).toMatchObject([{ id: 'a' }, { state: 'failed' }, { id: 'b' }]);
    expect(journal.jobs[1]?.id).toMatch(/^[0-9a-f]{32}$/);
    await journal.close();
  },
);

test('a job whose newest record is damaged is not what an older one says', async () => {
  const older = toLine({ ...jobOf(ID), state: 'queued' });
  const newer = JSON.stringify({ ...without('memory'), state: 'running' });
  await writeFile(file, `${older}\n${newer}\n${toLine(jobOf('b'))}\n`);

  const journal = await openJournal(folder);

  expect(journal.jobs).toMatchObject([{ id: ID, state: 'failed' }, { id: 'b' }]);
  await journal.close();
});

test('a damaged line takes nothing from a job that has ended', async () => {
  const done = { ...jobOf(ID), state: 'done', stoppedAt: 2, exitCode: 0 } as const;
  await writeFile(file, `${toLine(done)}\n${JSON.stringify(without('memory'))}\n`);

  const journal = await openJournal(folder);

  expect(journal.jobs).toMatchObject([{ id: ID, state: 'done' }]);
  await journal.close();
});

test('a job that has ended stays so, whatever a later line says', async () => {
  const done = { ...jobOf(ID), state: 'done', stoppedAt: 2, exitCode: 0 } as const;
  await writeFile(file, `${toLine(done)}\n${toLine({ ...jobOf(ID), state: 'running' })}\n`);

  const journal = await openJournal(folder);

  expect(journal.jobs).toMatchObject([{ id: ID, state: 'done' }]);
  await journal.close();
});

test('what a newer version added to a record is kept', async () => {
  await writeFile(file, `${JSON.stringify({ ...WHOLE, format: 3, novelty: { a: [1] } })}\n`);
  const journal = await openJournal(folder);
  const [job] = journal.jobs;
  if (job === undefined) throw new Error('cannot find the job');
  await journal.save(job);
  await journal.close();

  expect((await readFile(file, 'utf8')).trimEnd()).toContain('"novelty":{"a":[1]}');
});

test('ten thousand damaged lines take no room from the jobs that are well', async () => {
  const done = { ...jobOf('a'), state: 'done', stoppedAt: 2, exitCode: 0 } as const;
  const line = (index: number): string => `{"id":"x${index}","state":"running"}\n`;
  await writeFile(
    file,
    `${toLine(done)}\n${Array.from({ length: 10_000 }, (_, index) => line(index)).join('')}`,
  );

  const journal = await openJournal(folder, { mostEnded: 100, mostQueued: 100 });

  expect(journal.damaged).toHaveLength(10_000);
  expect(journal.jobs.length).toBeLessThan(30);
  expect(journal.jobs[0]).toMatchObject({ id: 'a', state: 'done' });
  await journal.close();
});

describe('a journal of 30,000 old records', () => {
  test('is read in a heap of 16 MB, and of those that have ended the newest stay', async () => {
    const record = (index: number): string =>
      toLine({
        ...jobOf(index.toString(16).padStart(32, '0')),
        params: { text: 'x'.repeat(500) },
        state: 'done',
        stoppedAt: index,
        exitCode: 0,
      });
    const queued = toLine(jobOf('waiting'));
    const lines = Array.from({ length: 30_000 }, (_, index) => record(index));
    await writeFile(file, `${queued}\n${lines.join('\n')}\n`);
    const program = `
      const { openJournal } = await import('${JOURNAL}');
      const { jobs, close } = await openJournal('${folder}', { mostEnded: 100, mostQueued: 2000 });
      await close();
      console.log(JSON.stringify([jobs.length, jobs[0].id, jobs.at(-1).stoppedAt]));`;

    const { stdout, stderr } = await runCommand(
      ['node', '--max-old-space-size=16', '--input-type=module', '-e', program],
      { cwd: join(import.meta.dirname, '../../..') },
    );

    expect(stdout || stderr).toBe('[101,"waiting",29999]\n');
    expect((await readFile(file, 'utf8')).split('\n').filter(Boolean)).toHaveLength(101);
  });
});

test('what is appended to the file by hand is read', async () => {
  const journal = await openJournal(folder);
  await journal.save(jobOf('a'));
  await journal.close();
  await appendFile(file, `${toLine(jobOf('b'))}\n`);

  const next = await openJournal(folder);

  expect(next.jobs.map(({ id }) => id)).toEqual(['a', 'b']);
  await next.close();
});

function markOf(pid: number): object {
  return { pid, startTicks: 1, bootId: 'boot', isOnTerminal: false };
}

test('a record that tells of a billion commands does not hold its lane', async () => {
  const state = await openJournal(join(folder, 'state'));
  await state.save({ ...jobOf(ID), runs: 1e9 });
  await state.close();

  const { queue, journal } = await openQueue(folder);
  queue.resume();

  await expect.poll(() => queue.get(ID)?.logBytes, { timeout: 10_000 }).toBeDefined();
  const next = await queue.submit(request('next', {}));
  const id = 'job' in next ? next.job.id : '';
  await expect.poll(() => queue.get(id)?.state, { timeout: 10_000 }).toBe('done');
  queue.close();
  await journal.close();
});
