import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { ask, type Answer } from '../../support/ask.ts';
import { createPanel, type Panel, type PanelLogin } from '../../support/panel.ts';

/**
 * iStore's own clients, request by request, as linkease/istore's store page (built bundle) and
 * luci-lib-taskd's task window (tasks.js) send them.
 */

let device: Device;
let panel: Panel;
let daemon: TestDaemon;
let login: PanelLogin;

beforeAll(async () => {
  [device, panel] = await Promise.all([createDevice(), createPanel()]);
  await device.opkg('update');
  daemon = await start();
  login = await panel.logIn();
});

afterAll(async () => {
  await daemon.close();
  await Promise.all([panel.close(), device.close()]);
});

function start(): Promise<TestDaemon> {
  return startDaemon(device, {
    set: ['main.auth=panel', 'main.base=/cgi-bin/luci'],
    env: panel.env,
  });
}

/**
 * The store page: everything in the query, the token and the time with each call, a POST without
 * body.
 */
function page(
  method: 'GET' | 'POST',
  operation: string,
  params: Record<string, string> = {},
): Promise<Answer> {
  const query = new URLSearchParams({ ...params, token: login.token, _t: String(Date.now()) });
  const headers = {
    cookie: `sysauth_http=${login.id}`,
    accept: 'application/json, text/plain, */*',
    ...(method === 'POST' ? { 'content-length': '0', origin: daemon.url } : {}),
  };
  return ask(`${daemon.url}/cgi-bin/luci/admin/store/${operation}?${query.toString()}`, {
    method,
    headers,
  });
}

/** The task window: XMLHttpRequest, where a POST has the token alone in its form. */
function taskWindow(call: string, form?: { token: string }): Promise<Answer> {
  const headers = { cookie: `sysauth_http=${login.id}` };
  return ask(
    `${daemon.url}/cgi-bin/luci/admin/system/tasks/${call}`,
    form === undefined ? { headers } : { method: 'POST', headers, form },
  );
}

async function peerStatus(): Promise<unknown> {
  return JSON.parse((await taskWindow('status?task_id=istore')).text);
}

/** As the window does: the state, then the log until both are at their end. */
async function watchTask(): Promise<{ log: string; exitCode: number; command: string }> {
  let log = '';
  for (;;) {
    const {
      running,
      exit_code: exitCode = -1,
      command,
    } = JSON.parse((await taskWindow('status?task_id=istore')).text) as {
      running: boolean;
      exit_code?: number;
      command: string;
    };
    const { status, text } = await taskWindow(
      `log?task_id=istore&offset=${Buffer.byteLength(log)}`,
    );
    expect([200, 204, 205]).toContain(status);
    if (status === 200) log += text;
    else if (!running) return { log, exitCode, command };
  }
}

test('the page learns who the device is', async () => {
  const first = JSON.parse((await page('GET', 'uid')).text) as Record<string, string>;
  const again = JSON.parse((await page('GET', 'uid')).text) as Record<string, string>;

  expect(first).toEqual({
    uid: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    arch: 'x86_64',
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
  });
  expect(again).toEqual(first);
  expect(await readFile(join(device.root, 'etc/depotd/device-id.json'), 'utf8')).toBe(
    `"${first.uid ?? ''}"\n`,
  );
});

test.each([
  ["DISTRIB_ARCH='aarch64_cortex-a53'\n", 'aarch64_cortex-a53'],
  ['DISTRIB_ID=OpenWrt\nDISTRIB_ARCH="mipsel_24kc"\n', 'mipsel_24kc'],
  ['DISTRIB_ID=OpenWrt\n', ''],
])(
  'where no configuration of opkg names the architecture, the release does: %j',
  async (release, arch) => {
    const file = join(device.root, 'etc/opkg/arch.conf');
    await rename(file, `${file}.away`);
    await writeFile(join(device.root, 'etc/openwrt_release'), release);

    expect(JSON.parse((await page('GET', 'uid')).text)).toMatchObject({ arch });

    await rename(`${file}.away`, file);
  },
);

test("without a task the window's state says 404 and nothing is running", async () => {
  const fresh = await taskWindow('status?task_id=nothing');

  expect([fresh.status, JSON.parse(fresh.text)]).toEqual([
    200,
    { running: false, exit_code: 404, is_unknown: true },
  ]);
});

test('the page installs, the window follows the task istore to its end, and the page lists the app', async () => {
  const accepted = await page('POST', 'install', { package: 'demo' });
  expect([accepted.status, JSON.parse(accepted.text)]).toMatchObject([
    200,
    { code: 0, stdout: '', stderr: '' },
  ]);
  const task = await watchTask();

  expect([task.exitCode, task.log.includes('Configuring app-meta-demo.')]).toEqual([0, true]);
  const installed = JSON.parse((await page('GET', 'installed')).text) as { name: string }[];
  expect(installed.map(({ name }) => name)).toContain('demo');
  expect(JSON.parse((await page('GET', 'status', { package: 'demo' })).text)).toMatchObject({
    name: 'demo',
    installed: true,
  });
});

test('the page installs with its quick settings', async () => {
  const accepted = await page('POST', 'install', {
    package: 'demo',
    autoconf: '1',
    path: '/mnt/data',
    enable: '0',
  });

  expect([accepted.status, accepted.text]).toMatchObject([
    200,
    expect.stringContaining('"code":0'),
  ]);
  await watchTask();
});

test('the window closes a task that has ended with the token in a form', async () => {
  expect((await taskWindow('stop?task_id=istore', { token: 'wrong' })).status).toBe(403);
  expect(await peerStatus()).toMatchObject({ running: false, exit_code: 0 });

  const answer = await taskWindow('stop?task_id=istore', { token: login.token });

  expect([answer.status, answer.text]).toEqual([204, '']);
});

test('a window that was closed stays closed: the page finds no task, closing it twice is no mistake, and the task is known by its id', async () => {
  expect(await peerStatus()).toEqual({ running: false, exit_code: 404, is_unknown: true });
  expect((await taskWindow('log?task_id=istore&offset=0')).status).toBe(404);
  expect((await taskWindow('stop?task_id=istore', { token: login.token })).status).toBe(204);
  expect(JSON.parse((await taskWindow('status?task_id=latest')).text)).toMatchObject({
    state: 'done',
    kind: 'install',
  });
});

test('a window that was closed stays closed under the next daemon, and the next task opens it again', async () => {
  await daemon.close();
  daemon = await start();
  expect(await peerStatus()).toEqual({ running: false, exit_code: 404, is_unknown: true });

  await page('POST', 'install', { package: 'tiny-01' });

  expect(await peerStatus()).toMatchObject({ package: 'tiny-01' });
  expect(await watchTask()).toMatchObject({ exitCode: 0 });
});

test('a client that sends everything in a form is understood', async () => {
  const headers = { cookie: `sysauth_http=${login.id}` };
  const answer = await ask(`${daemon.url}/cgi-bin/luci/admin/store/remove`, {
    method: 'POST',
    headers,
    form: { token: login.token, package: 'demo', _t: '1' },
  });

  expect([answer.status, answer.text]).toMatchObject([200, expect.stringContaining('"code":0')]);
  await watchTask();
});

test('when the session has ended, the page and the window get the 403 that they know', async () => {
  const other = await panel.logIn();
  const headers = { cookie: `sysauth_http=${other.id}` };
  const url = `${daemon.url}/cgi-bin/luci/admin/system/tasks/status?task_id=istore`;
  expect((await ask(url, { headers })).status).toBe(200);
  await panel.logOut(other.id);
  await delay(2100);
  const answer = await ask(url, { headers });

  expect([answer.status, answer.headers['x-luci-login-required']]).toEqual([403, 'yes']);
});
