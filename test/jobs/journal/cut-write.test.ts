import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeEach, expect, test } from 'vitest';

import { openJournal } from '../../../src/jobs/journal/journal.ts';
import { toLine } from '../../../src/jobs/journal/record.ts';
import { jobOf } from '../job-of.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, 'jobs.jsonl');
});

test('of records that are written at once a power cut leaves any sectors, and none that is damaged', async () => {
  const before = Buffer.from(`${toLine(jobOf('a'))}\n`);
  const long = { params: { text: 'x'.repeat(900) } };
  const written = Buffer.from(['b', 'c'].map((id) => `${toLine(jobOf(id, long))}\n`).join(''));
  const whole = Buffer.concat([before, written, Buffer.alloc(4096, '\n')]);
  const [first, last] = [before.length >> 9, (before.length + written.length) >> 9];
  for (let landed = 0; landed < 2 ** (last - first + 1); landed += 1) {
    const left = Buffer.from(whole);
    for (let sector = first; sector <= last; sector += 1) {
      const from = Math.max(before.length, sector << 9);
      if (((landed >> (sector - first)) & 1) === 0) left.fill('\n', from, (sector + 1) << 9);
    }
    await writeFile(file, left);

    const journal = await openJournal(folder);
    await journal.close();

    expect([landed, journal.damaged]).toEqual([landed, []]);
    expect(journal.jobs[0]).toMatchObject(jobOf('a'));
  }
});

test('a record that is damaged is found also if it lies beside empty lines', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((id) => `${toLine(jobOf(id))}\n`);
  await writeFile(file, `${a}\n${b?.replace('{', '[')}\n\n${c}`);

  const journal = await openJournal(folder);
  await journal.close();

  expect(journal.damaged).toMatchObject([{ damage: 'it is no JSON' }]);
});
