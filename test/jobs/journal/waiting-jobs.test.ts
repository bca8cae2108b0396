import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { toLine } from '../../../src/jobs/journal/record.ts';
import { runCommand } from '../../device/command.ts';
import { bundledProgram } from '../../support/bundled-program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { jobOf } from '../job-of.ts';

const JOURNAL = await bundledProgram(
  join(import.meta.dirname, '../../../src/jobs/journal/journal.ts'),
);

test('of 30,000 jobs that wait no more than may wait are in memory, the oldest', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'jobs.jsonl');
  const line = (index: number): string =>
    toLine({ ...jobOf(`q${index}`), params: { text: 'x'.repeat(500) } });
  await writeFile(file, `${Array.from({ length: 30_000 }, (_, at) => line(at)).join('\n')}\n`);
  const program = `
    const { openJournal } = await import('${JOURNAL}');
    const { jobs, dropped, close } = await openJournal('${folder}', { mostEnded: 100, mostQueued: 2000 });
    await close();
    console.log(JSON.stringify([jobs.length, jobs[0].id, jobs.at(-1).id, dropped]));`;

  const { stdout, stderr } = await runCommand(
    ['node', '--max-old-space-size=24', '--input-type=module', '-e', program],
    { cwd: join(import.meta.dirname, '../../..') },
  );

  expect(stdout || stderr).toBe('[2000,"q0","q1999",28000]\n');
  expect((await readFile(file, 'utf8')).split('\n').filter(Boolean)).toHaveLength(2000);
});
