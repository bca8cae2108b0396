import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import type { Job } from '../../../../src/jobs/job.ts';
import type { StepContext } from '../../../../src/jobs/plan.ts';
import { createDatabaseReader } from '../../../../src/package-management/apk/database/database.ts';
import { createLocations } from '../../../../src/package-management/apk/database/apk-locations.ts';
import type { Installation } from '../../../../src/package-management/apk/installation.ts';
import { createRecordCopy } from '../../../../src/package-management/apk/recovery/record-copy.ts';
import { returnRecords } from '../../../../src/package-management/apk/recovery/record-return.ts';
import { jobOf } from '../../../jobs/job-of.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { putAnew } from '../put-anew.ts';

let files: ReturnType<typeof createLocations>;
let installation: Installation;
let noted: string[];
beforeEach(async () => {
  const root = await temporaryFolder();
  const onDevice = (path: string): string => join(root, path);
  files = createLocations({ onDevice, stateDir: join(root, 'state') } as never);
  await mkdir(files.database, { recursive: true });
  await mkdir(files.configuration, { recursive: true });
  const [reader, copy] = [createDatabaseReader(files), createRecordCopy(files)];
  const environment = { PATH: process.env.PATH ?? '' };
  installation = { reader, copy, locations: files, environment } as unknown as Installation;
  noted = [];
  await write('before');
  await copy.save();
});

const recordOf = (name: string): string => `P:${name}\nV:1\n\n`;

async function write(name: string): Promise<void> {
  await putAnew(files.world, `${name}\n`);
  await putAnew(files.installed, recordOf(name));
  await putAnew(files.triggers, `Q1hash /usr/share/${name}\n`);
}

async function loseBytes(): Promise<void> {
  const { world, installed, triggers } = files;
  for (const file of [world, installed, triggers]) await putAnew(file, Buffer.alloc(8));
}

async function repair(given: Partial<Job>): Promise<void> {
  const note = async (text: string): Promise<void> => void noted.push(text);
  const context = { job: jobOf('a', { state: 'running', phase: 'repair', ...given }), note };
  await returnRecords(installation, context as unknown as StepContext);
}

const verdictOf = (state: 'failed' | 'interrupted') =>
  ({ verdict: { state, error: '', exitCode: 1 } }) as Partial<Job>;

const recordNow = (): Promise<string> => readFile(files.installed, 'latin1');

test.each<[string, Partial<Job>]>([
  ['a job', verdictOf('interrupted')],
  ['the repair of a job that had failed', { ...verdictOf('failed'), isRepairCut: true }],
])('records that were lost when the power went in %s are put back', async (_, given) => {
  await loseBytes();

  await repair(given);

  expect(await recordNow()).toBe(recordOf('before'));
  expect(await readFile(files.world, 'utf8')).toBe('before\n');
  // apk says nothing of zeros there, and forgets all triggers.
  expect(await readFile(files.triggers, 'utf8')).toBe('Q1hash /usr/share/before\n');
  expect(noted).toEqual([expect.stringMatching(/: the records from before the job are put back$/)]);
});

test('records that are damaged without a power cut are left to their owner', async () => {
  await loseBytes();

  await repair(verdictOf('failed'));

  expect(await recordNow()).toBe('\0'.repeat(8));
});

test('records that can be read stay, whatever their owner has made of them', async () => {
  // apk would remove what the device needs.
  await putAnew(files.installed, recordOf('before') + recordOf('libc'));

  await repair(verdictOf('interrupted'));

  expect([await recordNow(), noted]).toEqual([recordOf('before') + recordOf('libc'), []]);
});

test('copies that are damaged, too, put nothing right', async () => {
  await putAnew(files.world, '');
  await putAnew(join(installation.copy.folder, 'installed'), 'P:bef');

  await repair(verdictOf('interrupted'));

  expect([await readFile(files.world, 'utf8'), noted]).toEqual(['', []]);
});
