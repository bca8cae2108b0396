import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, vi } from 'vitest';

import { startDaemon, type TaskStatus } from '../device/daemon.ts';
import type { DaemonDevice } from '../device/daemon-process.ts';
import { createOwner } from '../support/owner.ts';
import { ask } from '../support/ask.ts';

const PASSWORD = 'correct horse';
const TASK_LIMIT_MS = 60_000;

/** An owner who is logged in at the depotd that a device has from the feed. */
export interface LoggedIn {
  /** Does an operation of the store, to its end. */
  run: (operation: string, form: Readonly<Record<string, string>>) => Promise<void>;
  /** A task that goes on until `goOn` lets it end. */
  startHeldTask: () => Promise<string>;
  goOn: (task: string) => Promise<TaskStatus['state']>;
  /** As the init script does when an upgrade has brought other programs: who was logged in logs in. */
  restart: () => Promise<void>;
  leave: () => Promise<void>;
}

/** Starts the programs that are installed, sets the first password and logs in with it. */
export async function logInAt(device: DaemonDevice): Promise<LoggedIn> {
  const program = join(device.root, 'usr/lib/depotd/depotd.mjs');
  const daemon = await startDaemon(device, { program, set: ['main.auth=password'] });
  onTestFinished(() => daemon.close());
  const owner = createOwner(daemon);
  const at = (path: string): string => `${daemon.url}${daemon.base}/admin/${path}`;
  expect((await ask(at('store/installed'))).status).toBe(403);
  await owner.setFirstPassword(PASSWORD);
  expect((await owner.tryPassword('another')).status).toBe(403);
  let { session, token } = await owner.logIn(PASSWORD);

  const ended = (task: string): Promise<TaskStatus> =>
    vi.waitFor(
      async () => {
        const answer = await ask(at(`system/tasks/status?task_id=${task}`), { headers: session });
        const status = JSON.parse(answer.text) as TaskStatus;
        if (status.running) throw new Error(`the task ${task} has not ended`);
        return status;
      },
      { timeout: TASK_LIMIT_MS, interval: 100 },
    );
  const taskIn = (text: string): string => (JSON.parse(text) as { task_id: string }).task_id;
  return {
    run: async (operation, form) => {
      const question = { method: 'POST', headers: session, form: { ...form, token } };
      const task = taskIn((await ask(at(`store/${operation}`), question)).text);
      expect(await ended(task)).toMatchObject({ state: 'done' });
    },
    startHeldTask: async () => {
      const script = `#!/bin/sh\nuntil [ -e ${device.root}/tmp/go ] || ! [ -d ${device.root}/tmp ]; do sleep 0.05; done\n`;
      const form = new FormData();
      form.set('token', token);
      form.set('file', new Blob([script]), 'held.run');
      const url = at('store/upload');
      return taskIn(
        await (await fetch(url, { method: 'POST', headers: session, body: form })).text(),
      );
    },
    goOn: async (task) => {
      await writeFile(join(device.root, 'tmp/go'), '');
      return (await ended(task)).state;
    },
    restart: async () => {
      await daemon.restart();
      ({ session, token } = await owner.logIn(PASSWORD));
    },
    leave: () => daemon.close(),
  };
}
