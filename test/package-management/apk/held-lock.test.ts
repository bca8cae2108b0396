import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import { startCommand, type RunningCommand } from '../../device/command.ts';
import { oneProgram as one, openApkStore, type ApkStore } from './open-store.ts';

/** apk's lock in the hands of a script of the owner's that runs flock(1) by hand. */
let store: ApkStore;
let lock: string;
beforeAll(async () => {
  store = await openApkStore({ packages: [one('plain', '1.0-r1'), one('needed', '1.0-r1')] });
  lock = join(store.device.root, 'lib/apk/db/lock');
});
afterAll(() => store.close());

let holder: RunningCommand;
beforeEach(async () => {
  await store.device.apk('add', 'plain');
  // In place of flock itself, so that the process that is named, and ended, holds it.
  holder = startCommand(['flock', '-F', lock, 'sh', '-c', 'echo held; exec sleep 600']);
  await holder.printed('held');
});
afterEach(async () => {
  await release();
  await store.clear();
});

async function release(): Promise<void> {
  holder.signal('SIGTERM');
  await holder.outcome;
}

async function submitted(operation: string, name: string | undefined): Promise<string> {
  const id = await store.daemon.submit(operation, name === undefined ? {} : { package: name });
  await expect
    .poll(() => store.daemon.logOf(id), { timeout: 20_000 })
    .toContain(`waiting: process ${holder.pid} holds ${lock}`);
  return id;
}

const OPERATIONS = [
  ['install', 'needed', ['needed', 'plain']],
  ['remove', 'plain', []],
  ['update', undefined, ['plain']],
] as const;

test.each(OPERATIONS)('%s waits, names the process, and goes on', async (...row) => {
  const [operation, name, packages] = row;
  const id = await submitted(operation, name);

  await release();

  expect((await store.daemon.finished(id)).state).toBe('done');
  expect(Object.keys(await store.packages())).toEqual(packages);
});

test.each(OPERATIONS)('%s that is stopped meanwhile has done nothing', async (...row) => {
  const [operation, name] = row;
  const id = await submitted(operation, name);

  await store.daemon.post('admin/system/tasks/stop', { task_id: id });

  expect((await store.daemon.finished(id)).state).toBe('stopped');
  expect(Object.keys(await store.packages())).toEqual(['plain']);
});
