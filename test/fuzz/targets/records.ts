import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import * as fc from 'fast-check';

import { waitForExit } from '../../../src/jobs/exit-file.ts';
import { openJournal } from '../../../src/jobs/journal/journal.ts';
import { property, type FuzzTarget } from '../target.ts';

/** What the daemon itself wrote before, and a bad medium or another version changed. */
export async function recordTargets(): Promise<FuzzTarget[]> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-fuzz-records-'));
  await mkdir(join(folder, 'state'));
  const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return [journal(join(folder, 'state')), { ...exitFile(join(folder, 'exit')), close }];
}

const id = fc.stringMatching(/^[0-9a-f]{32}$/);
const record = (jobId: string): string =>
  JSON.stringify({
    id: jobId,
    kind: 'install',
    lane: 'package',
    subject: 'x',
    params: {},
    command: 'install x',
    state: 'done',
    createdAt: 1,
    startedAt: 1,
    stoppedAt: 2,
    exitCode: 0,
    phase: 'steps',
    step: 4,
    runs: 1,
    resumes: 0,
    memory: {},
  });
const junkLine = fc.oneof(
  fc.json().map((text) => text.replaceAll('\n', ' ')),
  fc.string().map((text) => text.replaceAll('\n', ' ')),
  fc.record({ id: fc.anything(), state: fc.anything() }).map((value) => {
    try {
      return JSON.stringify(value);
    } catch {
      return '{}';
    }
  }),
  fc.constant(`{"id":"deep","memory":${'['.repeat(5000)}${']'.repeat(5000)}}`),
);

/** Whatever stands among them, the records that are whole are all read, in their order. */
function journal(folder: string): FuzzTarget {
  return property('journal', 25, {
    inputs: fc.tuple(
      fc.uniqueArray(id, { maxLength: 6 }),
      fc.array(junkLine, { maxLength: 6 }),
      fc.array(fc.nat(11), { maxLength: 6 }),
    ),
    check: async ([ids, junk, positions]) => {
      const lines = ids.map(record);
      junk.forEach((line, index) => lines.splice(positions[index] ?? 0, 0, line));
      await writeFile(join(folder, 'jobs.jsonl'), `${lines.join('\n')}\n{"id":"torn`);
      const opened = await openJournal(folder);
      await opened.close();
      const found = opened.jobs.map((job) => job.id).filter((each) => ids.includes(each));
      return found.join() === ids.join() ? undefined : `of ${ids.join()} are read ${found.join()}`;
    },
  });
}

/** A file that holds anything: the command has ended with some number, or never ran. */
function exitFile(file: string): FuzzTarget {
  const line = fc.oneof(fc.constantFrom('0', '7', 'not-run', '-1', '1e3', '4242', ''), fc.string());
  return property('exit file', 100, {
    inputs: fc.tuple(fc.array(line, { maxLength: 4 }), fc.boolean()),
    check: async ([lines, isWhole]) => {
      await writeFile(file, `${lines.join('\n')}${isWhole ? '\n' : ''}`);
      const exit = await waitForExit({ file, pid: 4242, isAlive: () => Promise.resolve(false) });
      return typeof exit === 'string' || Number.isInteger(exit.exitCode)
        ? undefined
        : `the exit code is ${String(exit.exitCode)}`;
    },
  });
}
