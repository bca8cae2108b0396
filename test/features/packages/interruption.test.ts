import { randomBytes } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { lockHolderOf } from '../../../src/device/lock-holder.ts';
import { slowPackage } from '../../device/packages/awkward-packages.ts';
import { asOfAnotherBoot, forgetEnd } from '../../support/power-cut.ts';
import { halfInstalled, openStore, type Store } from './open-store.ts';

let store: Store;
let journalFile: string;

beforeAll(async () => {
  store = await openStore({ packages: [slowPackage(2)] });
  journalFile = join(store.device.root, 'etc/depotd/jobs.jsonl');
});

afterAll(() => store.close());

beforeEach(async () => {
  if ((await store.statusOf('slow')).installed === true) {
    await store.run('remove', { package: 'slow' });
  }
});

/** Starts an install, and comes back when the package is being configured. */
async function installHalf(): Promise<string> {
  const task = await store.daemon.submit('install', { package: 'slow' });
  await expect
    .poll(() => store.daemon.logOf(task), { timeout: 20_000 })
    .toContain('slow: postinst begin');
  return task;
}

async function opkgPid(): Promise<number> {
  const pid = await lockHolderOf(join(store.device.root, 'var/lock/opkg.lock'), 'POSIX');
  if (pid === undefined || pid === 0) throw new Error('cannot find the opkg that runs');
  return pid;
}

async function expectNothingOfIt(): Promise<void> {
  expect(await halfInstalled(store.device)).toEqual([]);
  expect(await store.packages()).toEqual({});
  for (const file of [
    'usr/bin/slow',
    'usr/lib/opkg/info/slow.control',
    'usr/lib/opkg/info/slow.list',
  ]) {
    expect(await store.device.read(file)).toBeUndefined();
  }
}

const count = (text: string, part: string): number => text.split(part).length - 1;

test('a running install that is stopped ends as stopped, and nothing is half installed', async () => {
  const task = await installHalf();

  expect((await store.daemon.post('admin/system/tasks/stop', { task_id: task })).status).toBe(204);

  const { state, exit_code: code, error } = await store.daemon.finished(task);
  expect({ state, code, error }).toEqual({
    state: 'stopped',
    code: 130,
    error: 'stopped on request',
  });
  expect(await store.daemon.logOf(task)).toContain(
    'slow is removed again: nothing stays half installed',
  );
  await expectNothingOfIt();
});

test('a queued install that is stopped never runs', async () => {
  const first = await installHalf();
  const second = await store.daemon.submit('install', { package: 'virt' });

  await store.daemon.post('admin/system/tasks/stop', { task_id: second });

  expect(await store.daemon.status(second)).toMatchObject({
    running: false,
    state: 'stopped',
    exit_code: 143,
  });
  await store.daemon.finished(first);
  expect(await store.statusOf('virt')).toEqual({ installed: false });
});

test('a task that contradicts a queued one is refused with a sentence that names it, and the same request is the same task', async () => {
  const first = await installHalf();
  const queued = await store.daemon.submit('remove', { package: 'slow' });

  expect(await store.daemon.submit('remove', { package: 'slow' })).toBe(queued);
  expect(
    await (await store.daemon.post('admin/store/install', { package: 'slow' })).json(),
  ).toEqual({
    code: 1,
    stdout: '',
    stderr: `cannot install slow: task ${queued} (remove slow) is queued and would remove it; stop that task first`,
  });
  await store.daemon.finished(first);
  expect(await store.daemon.finished(queued)).toMatchObject({ state: 'done' });
});

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'an install goes on when the daemon ends by %s, and the next daemon has its end and its whole log',
  async (signal) => {
    const task = await installHalf();
    await store.daemon.kill(signal);

    await store.daemon.restart();

    expect(await store.daemon.status(task)).toMatchObject({ running: true, state: 'running' });
    expect(await store.daemon.finished(task)).toMatchObject({ state: 'done', exit_code: 0 });
    const log = await store.daemon.logOf(task);
    for (const line of ['Installing slow', 'slow: postinst begin', 'slow: postinst end']) {
      expect([line, count(log, line)]).toEqual([line, 1]);
    }
    expect(await store.packages()).toMatchObject({ slow: '1.0-1' });
  },
);

test('an install that ends while there is no daemon is known as done by the next one', async () => {
  const task = await installHalf();
  await store.daemon.kill('SIGKILL');
  await expect.poll(() => store.packages(), { timeout: 10_000 }).toMatchObject({ slow: '1.0-1' });

  await store.daemon.restart();

  expect(await store.daemon.finished(task)).toMatchObject({ state: 'done', exit_code: 0 });
  expect(await store.statusOf('slow')).toMatchObject({ installed: true });
});

test('an opkg that was killed with the daemon leaves a failed task and nothing half installed', async () => {
  const task = await installHalf();
  await store.daemon.kill('SIGKILL');
  process.kill(await opkgPid(), 'SIGKILL');

  await store.daemon.restart();

  expect(await store.daemon.finished(task)).toMatchObject({ state: 'failed', exit_code: 137 });
  await expectNothingOfIt();
});

test('after another boot the install is interrupted, as its log says, and nothing of it is left', async () => {
  const task = await installHalf();
  await store.daemon.kill('SIGKILL');
  process.kill(await opkgPid(), 'SIGKILL');
  await asOfAnotherBoot(journalFile);

  await store.daemon.restart();

  expect(await store.daemon.finished(task)).toMatchObject({
    state: 'interrupted',
    exit_code: 143,
    error: 'the device went down while the job was running',
  });
  expect(await store.daemon.logOf(task)).toContain(
    'depotd: the device went down while the job was running',
  );
  await expectNothingOfIt();
});

test('a job that had done all it was for when the device went down is done, and stays done', async () => {
  for (const operation of ['install', 'remove']) {
    const { id: task } = await store.run(operation, { package: 'slow' });
    await store.daemon.kill('SIGKILL');
    await forgetEnd(journalFile, task);
    await asOfAnotherBoot(journalFile);

    await store.daemon.restart();

    expect(await store.daemon.finished(task)).toMatchObject({ state: 'done', exit_code: 0 });
    expect(await store.packages()).toEqual(operation === 'install' ? { slow: '1.0-1' } : {});
  }
});

test('a task whose daemon was killed just before its end says which packages it changed', async () => {
  await store.run('install', { package: 'slow' });
  const { id: task } = await store.run('remove', { package: 'slow' });
  await store.daemon.kill('SIGKILL');
  await forgetEnd(journalFile, task);

  await store.daemon.restart();

  expect(await store.daemon.finished(task)).toMatchObject({ state: 'done', packages: ['slow'] });
});

test('an install whose configuration the device went down under is interrupted, and stays', async () => {
  const { id: task } = await store.run('install', { package: 'demo', autoconf: '1' });
  await store.daemon.kill('SIGKILL');
  await forgetEnd(journalFile, task);
  await asOfAnotherBoot(journalFile);

  await store.daemon.restart();

  expect((await store.daemon.finished(task)).state).toBe('interrupted');
  expect(await store.packages()).toMatchObject({ 'app-meta-demo': '1.0-1' });
  await store.run('remove', { package: 'demo' });
});

test('jobs waiting in line when the daemon is killed run under the next one, in their order', async () => {
  const first = await installHalf();
  const second = await store.daemon.submit('install', { package: 'virt' });
  const third = await store.daemon.submit('install', { package: 'needvirt' });
  await store.daemon.kill('SIGKILL');

  await store.daemon.restart();

  const starts: number[] = [];
  for (const task of [first, second, third]) {
    const { state, start, command } = await store.daemon.finished(task);
    expect([command, state]).toEqual([command, 'done']);
    starts.push(start);
  }
  expect(starts).toEqual([...starts].sort((a, b) => a - b));
  await store.run('remove', { package: 'needvirt' });
});

test.each<[string, object]>([
  ['of a kind that this version does not know', { kind: 'frobnicate' }],
  ['with other parameters than this version has', { kind: 'upload', params: {} }],
  ['without parameters', { kind: 'upload', params: undefined }],
  ['at a place that this version does not know', { phase: 'farewell' }],
])('a task %s does not hide the others', async (_, change) => {
  await store.daemon.close();
  const [line = ''] = (await readFile(journalFile, 'utf8')).split('\n');
  const id = randomBytes(16).toString('hex');
  await appendFile(
    journalFile,
    `${JSON.stringify({ ...(JSON.parse(line) as object), id, ...change })}\n`,
  );

  await store.daemon.restart();

  const all = await store.daemon.get('admin/system/tasks/status');
  expect(all.status).toBe(200);
  expect(Object.keys((await all.json()) as object)).toContain(id);
  expect((await store.daemon.get(`admin/system/tasks/status?task_id=${id}`)).status).toBe(200);
});
