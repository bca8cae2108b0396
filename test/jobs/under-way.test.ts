import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterEach, beforeEach, expect, test } from 'vitest';

import type { Job } from '../../src/jobs/job.ts';
import { runCommand, startCommand, type RunningCommand } from '../device/command.ts';
import { bundledProgram } from '../support/bundled-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Whatever happens, no job begins while a process of the one before it lives. */

const DAEMON = await bundledProgram(join(import.meta.dirname, 'queue-daemon.ts'));

let folder: string;
const daemons: RunningCommand[] = [];

beforeEach(async () => (folder = await temporaryFolder()));

afterEach(async () => {
  for (const daemon of daemons.splice(0)) daemon.signal('SIGKILL');
  await writeFile(join(folder, 'go'), '');
});

/** Until the file is there, or the folder has gone with its test. */
const UNTIL_GO = 'until [ -e go ] || ! [ -e first.pid ]; do sleep 0.02; done';
const effect = (name: string): string => `echo ${name} >>effects`;
const effects = async (): Promise<string[]> =>
  (await readFile(join(folder, 'effects'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
/** What the second job does: it tells whether anything of the first one is there. */
const alone = (name: string): string =>
  `if grep -q ') [^ZX]' /proc/$(cat first.pid)/stat; then ${effect('beside')}; fi; ${effect(name)}`;
const NEXT = { 1: alone('next') };
const FIRST = { 1: `echo $$ >first.pid; ${UNTIL_GO}; ${effect('first')}`, r1: alone('repaired') };

test('a command that goes on over five daemons killed one after the other is waited for, and its job is done', async () => {
  await start('none', FIRST, NEXT).printed('taken up');
  await expect.poll(() => pidOf('first.pid')).toBeGreaterThan(0);
  daemons[0]?.signal('SIGKILL');
  for (let count = 0; count < 5; count += 1) {
    const daemon = start('none');
    await daemon.printed('taken up');
    daemon.signal('SIGKILL');
    await daemon.exit;
  }

  const last = start('none');
  await writeFile(join(folder, 'go'), '');

  expect(await endsOf(last)).toMatchObject([{ state: 'done', resumes: 0 }, { state: 'done' }]);
  expect(await effects()).toEqual(['first', 'next']);
});

test('a job of a kind that this version does not know ends its command before it fails', async () => {
  const first = start('none', FIRST, NEXT);
  await expect.poll(() => pidOf('first.pid')).toBeGreaterThan(0);
  first.signal('SIGKILL');
  await first.exit;

  const [job] = await endsOf(start('unknown kind'));

  expect(job).toMatchObject({ state: 'failed' });
  expect(await isThere(await pidOf('first.pid'))).toBe(false);
  expect(await effects()).not.toContain('first');
});

test('when the holder of a command is killed the command is ended before its job fails and the next one begins', async () => {
  const daemon = start('none', FIRST, NEXT);
  await expect.poll(() => pidOf('first.pid')).toBeGreaterThan(0);

  process.kill(await holderPid(), 'SIGKILL');

  const [first, next] = await endsOf(daemon);
  expect(first).toMatchObject({ state: 'failed', exitCode: 137 });
  expect(next).toMatchObject({ state: 'done' });
  expect(await effects()).toEqual(['repaired', 'next']);
});

/** Leaves something that outlives the command for a while, deaf to what is to end it. */
const leaving = (signals: string): string =>
  `sh -c 'trap "" ${signals}; echo $$ >first.pid; sleep 3; exit' & echo $$ >command.pid; sleep 30`;

test('what a killed command has started is gone before the repair begins', async () => {
  const daemon = start('none', { 1: leaving('HUP INT'), r1: alone('repaired') }, NEXT);
  await expect.poll(() => pidOf('first.pid')).toBeGreaterThan(0);
  await expect.poll(() => pidOf('command.pid')).toBeGreaterThan(0);

  process.kill(await pidOf('command.pid'), 'SIGKILL');

  expect(await endsOf(daemon)).toMatchObject([{ state: 'failed' }, { state: 'done' }]);
  expect(await effects()).toEqual(['repaired', 'next']);
});

test('a stop is done when what the command started is gone, too', async () => {
  const jobs = [{ 1: leaving('HUP INT'), r1: alone('repaired') }, NEXT];

  const daemon = start('stop when begun', ...jobs);

  expect(await endsOf(daemon)).toMatchObject([{ state: 'stopped' }, { state: 'done' }]);
  expect(await effects()).toEqual(['repaired', 'next']);
});

test('a daemon out of descriptors takes no job for ended, and goes on when there are some', async () => {
  const daemon = start('none', FIRST, NEXT);
  await expect.poll(() => pidOf('first.pid')).toBeGreaterThan(0);
  await daemon.printed('taken up');
  await limitDescriptors(daemon.pid, 1);
  process.kill(await holderPid(), 'SIGKILL');
  // The daemon looks every second.
  await delay(2500);
  expect(await effects()).toEqual([]);
  expect(await isThere(await pidOf('first.pid'))).toBe(true);

  await limitDescriptors(daemon.pid, 1024);

  expect(await endsOf(daemon)).toMatchObject([{ state: 'failed' }, { state: 'done' }]);
  expect(await effects()).toEqual(['repaired', 'next']);
});

const NO_INOTIFY = [
  ['instances', 'max_inotify_instances'],
  ['watches', 'max_inotify_watches'],
] as const;

test.each(NO_INOTIFY)('with all %s of inotify used up jobs run as ever', async (_, limit) => {
  // A limit of its own: that of a new user namespace (user_namespaces(7)).
  const script = `echo 0 >/proc/sys/user/${limit} && exec "$@"`;
  const inNamespace = ['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh'];
  const daemon = startCommand([
    ...(inNamespace as [string, ...string[]]),
    ...words('none', { 1: 'sleep 0.3', 2: effect('first') }, NEXT),
  ]);
  daemons.push(daemon);
  await writeFile(join(folder, 'first.pid'), '999999999');

  expect(await endsOf(daemon)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
  expect(await effects()).toEqual(['first', 'next']);
});

function words(point: string, ...jobs: Record<string, string>[]): [string, ...string[]] {
  const texts = jobs.map((params) => JSON.stringify(params));
  return ['node', DAEMON, folder, point, ...texts];
}

function start(point: string, ...jobs: Record<string, string>[]): RunningCommand {
  const daemon = startCommand(words(point, ...jobs));
  daemons.push(daemon);
  return daemon;
}

/** How all jobs ended, in the order in which they came. */
async function endsOf(daemon: RunningCommand): Promise<Job[]> {
  const { stdout, stderr } = await daemon.outcome;
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  if (lines.length === 0) throw new Error(`cannot run: ${stderr}`);
  return lines.map((line) => JSON.parse(line) as Job);
}

async function pidOf(file: string): Promise<number> {
  return Number(await readFile(join(folder, file), 'utf8').catch(() => ''));
}

async function holderPid(): Promise<number> {
  const lines = (await readFile(join(folder, 'state/jobs.jsonl'), 'utf8')).trim().split('\n');
  const job = JSON.parse(lines.findLast((line) => line.includes('"process"')) ?? '{}') as Job;
  return job.process?.pid ?? 0;
}

async function isThere(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return stat !== '' && !/\) [ZX]/.test(stat);
}

/** How many descriptors the process may have; those that it has stay (prlimit(2)). */
async function limitDescriptors(pid: number, most: number): Promise<void> {
  const { code, stderr } = await runCommand(['prlimit', `--pid=${pid}`, `--nofile=${most}:`]);
  if (code !== 0) throw new Error(`cannot set the limit: ${stderr}`);
}
