import { afterAll, beforeAll, expect, test } from 'vitest';

import { slowPackage } from '../../device/awkward-packages.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { ask } from '../../support/ask.ts';
import { openEvents, type EventReader } from '../../support/event-reader.ts';
import { createOwner, type Owner } from '../../support/owner.ts';
import { createPanel, type Panel } from '../../support/panel.ts';

let device: Device;
let panel: Panel;
let withPanel: TestDaemon;
let withPassword: TestDaemon;
let owner: Owner;

beforeAll(async () => {
  [device, panel] = await Promise.all([
    createDevice({ packages: [slowPackage(50)] }),
    createPanel(),
  ]);
  const start = (mode: string): Promise<TestDaemon> =>
    startDaemon(device, {
      set: [
        `main.auth=${mode}`,
        `main.state_dir=/etc/depotd-${mode}`,
        `main.log_dir=/var/log/depotd-${mode}`,
      ],
      env: { PATH: `${panel.bin}:${device.path}` },
    });
  [withPanel, withPassword] = await Promise.all([start('panel'), start('password')]);
  owner = createOwner(withPassword);
  await owner.setPassword('secret');
});

afterAll(async () => {
  await Promise.all([withPanel.close(), withPassword.close()]);
  await Promise.all([panel.close(), device.close()]);
});

const follow = ({ url, base }: TestDaemon, cookie: string, path = 'events'): Promise<EventReader> =>
  openEvents(`${url}${base}/admin/system/${path}`, { headers: { cookie } });
const logOut = (cookie: string, token: string): Promise<unknown> =>
  ask(`${withPassword.url}${withPassword.base}/admin/logout`, {
    method: 'POST',
    headers: { cookie },
    form: { token },
  });

test('an event stream ends after its log-out, and that of another session goes on', async () => {
  const [mine, theirs] = [await owner.logIn('secret'), await owner.logIn('secret')];
  const [stream, other] = [
    await follow(withPassword, mine.cookie),
    await follow(withPassword, theirs.cookie),
  ];

  await logOut(mine.cookie, mine.token);

  expect(await stream.rest()).toEqual([]);
  await submitUpdate(theirs);
  expect(await other.next()).toMatchObject({ event: 'job' });
  other.close();
});

test("a task's events end after the log-out while the task runs on", async () => {
  const session = await owner.logIn('secret');
  const task = await submitUpdate(session);
  await expect.poll(async () => (await taskStatus(session.cookie, task)).running).toBe(false);
  const slow = await submit(session, 'install', { package: 'slow' });
  const stream = await follow(withPassword, session.cookie, `tasks/events?task_id=${slow}`);
  expect(await stream.next()).toMatchObject({ event: 'status' });

  await logOut(session.cookie, session.token);

  expect((await stream.rest()).map(({ event }) => event)).not.toContain('end');
  const later = await owner.logIn('secret');
  expect((await taskStatus(later.cookie, slow)).running).toBe(true);
  await ask(`${withPassword.url}${withPassword.base}/admin/system/tasks/stop`, {
    method: 'POST',
    headers: { cookie: later.cookie },
    form: { token: later.token, task_id: slow },
  });
  await expect
    .poll(async () => (await taskStatus(later.cookie, slow)).running, { timeout: 40_000 })
    .toBe(false);
});

test('all event streams end when the password is set anew', async () => {
  const { cookie } = await owner.logIn('secret');
  const stream = await follow(withPassword, cookie);

  await owner.setPassword('secret', 'secret');

  expect(await stream.rest()).toEqual([]);
});

test("an event stream ends after the panel's log-out", async () => {
  const { id } = await panel.logIn();
  const stream = await follow(withPanel, `sysauth_http=${id}`);

  await panel.logOut(id);

  expect(await stream.rest()).toEqual([]);
});

test('an event stream keeps the session of the panel from becoming idle', async () => {
  const { id } = await panel.logIn(8);
  const stream = await follow(withPanel, `sysauth_http=${id}`);
  const before = (await panel.calls()).length;

  await expect
    .poll(async () => (await panel.calls()).length - before, { timeout: 30_000 })
    .toBeGreaterThan(5);

  expect(
    (
      await ask(`${withPanel.url}${withPanel.base}/admin/store/token`, {
        headers: { cookie: `sysauth_http=${id}` },
      })
    ).status,
  ).toBe(200);
  stream.close();
});

test('an event stream ends where the panel cannot be asked any more', async () => {
  const { id } = await panel.logIn();
  const stream = await follow(withPanel, `sysauth_http=${id}`);

  await panel.fail('gone');

  expect(await stream.rest()).toEqual([]);
  await panel.fail('good');
});

interface LoggedIn {
  cookie: string;
  token: string;
}

async function submit(
  { cookie, token }: LoggedIn,
  operation: string,
  params: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answer = await ask(`${withPassword.url}${withPassword.base}/admin/store/${operation}`, {
    method: 'POST',
    headers: { cookie },
    form: { token, ...params },
  });
  return (JSON.parse(answer.text) as { task_id: string }).task_id;
}

function submitUpdate(session: LoggedIn): Promise<string> {
  return submit(session, 'update');
}

async function taskStatus(cookie: string, task: string): Promise<{ running: boolean }> {
  const answer = await ask(
    `${withPassword.url}${withPassword.base}/admin/system/tasks/status?task_id=${task}`,
    { headers: { cookie } },
  );
  return JSON.parse(answer.text) as { running: boolean };
}
