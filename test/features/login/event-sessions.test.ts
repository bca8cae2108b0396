import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { slowPackage } from '../../device/packages/awkward-packages.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { ask } from '../../support/ask.ts';
import { openEvents, type EventReader } from '../../support/event-reader.ts';
import { createOwner, type Owner } from '../../support/owner.ts';
import { createPanel, type Panel } from '../../support/panel.ts';
import type { SessionHeaders } from '../../support/session-headers.ts';

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
      env: panel.env,
    });
  [withPanel, withPassword] = await Promise.all([start('panel'), start('password')]);
  owner = createOwner(withPassword);
  await owner.setFirstPassword('secret');
});

afterAll(async () => {
  await Promise.all([withPanel.close(), withPassword.close()]);
  await Promise.all([panel.close(), device.close()]);
});

const follow = (
  { url, base }: TestDaemon,
  session: Readonly<Record<string, string>>,
  path = 'events',
): Promise<EventReader> => openEvents(`${url}${base}/admin/system/${path}`, { headers: session });
const logOut = ({ session, token }: LoggedIn): Promise<unknown> =>
  ask(`${withPassword.url}${withPassword.base}/admin/logout`, {
    method: 'POST',
    headers: session,
    form: { token },
  });

test('an event stream ends after its log-out, and that of another session goes on', async () => {
  const [mine, theirs] = [await owner.logIn('secret'), await owner.logIn('secret')];
  const [stream, other] = [
    await follow(withPassword, mine.session),
    await follow(withPassword, theirs.session),
  ];

  await logOut(mine);

  expect(await stream.rest()).toEqual([]);
  await submitUpdate(theirs);
  expect(await other.next()).toMatchObject({ event: 'job' });
  other.close();
});

test("a task's events end after the log-out while the task runs on", async () => {
  const first = await owner.logIn('secret');
  const task = await submitUpdate(first);
  await expect.poll(async () => (await taskStatus(first, task)).running).toBe(false);
  const slow = await submit(first, 'install', { package: 'slow' });
  const stream = await follow(withPassword, first.session, `tasks/events?task_id=${slow}`);
  expect(await stream.next()).toMatchObject({ event: 'status' });

  await logOut(first);

  expect((await stream.rest()).map(({ event }) => event)).not.toContain('end');
  const later = await owner.logIn('secret');
  expect((await taskStatus(later, slow)).running).toBe(true);
  await ask(`${withPassword.url}${withPassword.base}/admin/system/tasks/stop`, {
    method: 'POST',
    headers: later.session,
    form: { token: later.token, task_id: slow },
  });
  await expect
    .poll(async () => (await taskStatus(later, slow)).running, { timeout: 40_000 })
    .toBe(false);
});

test('all event streams end when the password is set anew', async () => {
  const { session } = await owner.logIn('secret');
  const stream = await follow(withPassword, session);

  await owner.setPassword('secret', 'secret');

  expect(await stream.rest()).toEqual([]);
});

test("an event stream ends after the panel's log-out", async () => {
  const { id } = await panel.logIn();
  const stream = await follow(withPanel, { cookie: `sysauth_http=${id}` });

  await panel.logOut(id);

  expect(await stream.rest()).toEqual([]);
});

test('an open event stream does not keep the session of the panel, and ends with it', async () => {
  const { id } = await panel.logIn(6);
  const beganAt = performance.now();
  const stream = await follow(withPanel, { cookie: `sysauth_http=${id}` });

  expect(await stream.rest()).toEqual([]);

  const lastedMs = performance.now() - beganAt;
  expect([lastedMs > 5000, lastedMs < 8500]).toEqual([true, true]);
});

test('a stream that is opened again and again, and what a page asks by itself, are no use of it', async () => {
  const { id } = await panel.logIn(6);
  const headers = { cookie: `sysauth_http=${id}` };
  const { url, base } = withPanel;
  let last = 200;
  for (let asked = 0; asked < 20 && last === 200; asked += 1) {
    last = (await ask(`${url}${base}/admin/system/events`, { headers })).status;
    await delay(250);
    if (last === 200) {
      last = (await ask(`${url}${base}/admin/store/uid?background=1`, { headers })).status;
    }
    await delay(250);
  }

  expect(last).toBe(403);
});

test('one question serves all streams', async () => {
  const logins = await Promise.all([panel.logIn(), panel.logIn()]);
  const streams = await Promise.all(
    [...logins, ...logins, ...logins].map(({ id }) =>
      follow(withPanel, { cookie: `sysauth_http=${id}` }),
    ),
  );
  const [from, beganAt] = [panel.calls().length, performance.now()];
  await delay(3200);
  const calls = panel.calls().slice(from);

  expect(new Set(calls)).toEqual(new Set(['list']));
  // One every second and a half.
  expect(calls.length).toBeLessThanOrEqual((performance.now() - beganAt) / 1500 + 1);
  for (const stream of streams) stream.close();
});

test('an event stream ends where the panel cannot be asked any more', async () => {
  const { id } = await panel.logIn();
  const stream = await follow(withPanel, { cookie: `sysauth_http=${id}` });

  panel.fail('gone');

  expect(await stream.rest()).toEqual([]);
  panel.fail('good');
});

interface LoggedIn {
  session: SessionHeaders;
  token: string;
}

async function submit(
  { session, token }: LoggedIn,
  operation: string,
  params: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answer = await ask(`${withPassword.url}${withPassword.base}/admin/store/${operation}`, {
    method: 'POST',
    headers: session,
    form: { token, ...params },
  });
  return (JSON.parse(answer.text) as { task_id: string }).task_id;
}

function submitUpdate(by: LoggedIn): Promise<string> {
  return submit(by, 'update');
}

async function taskStatus({ session }: LoggedIn, task: string): Promise<{ running: boolean }> {
  const answer = await ask(
    `${withPassword.url}${withPassword.base}/admin/system/tasks/status?task_id=${task}`,
    { headers: session },
  );
  return JSON.parse(answer.text) as { running: boolean };
}
