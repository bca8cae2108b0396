import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { ask, type Answer } from '../../support/ask.ts';
import { createPanel, type Panel, type PanelLogin } from '../../support/panel.ts';

/**
 * Every call that the bundle of linkease/istore-ui (a595bae) makes, as it sends it: everything in
 * the query, with the token and the time, a POST without body. The order is that of the bundle.
 */

let device: Device;
let panel: Panel;
let daemon: TestDaemon;
let login: PanelLogin;

beforeAll(async () => {
  [device, panel] = await Promise.all([createDevice(), createPanel()]);
  await device.opkg('update');
  daemon = await startDaemon(device, {
    set: ['main.auth=panel', 'main.base=/cgi-bin/luci'],
    env: panel.env,
  });
  login = await panel.logIn();
});

afterAll(async () => {
  await daemon.close();
  await Promise.all([panel.close(), device.close()]);
});

function call(
  method: 'GET' | 'POST',
  operation: string,
  params: Record<string, string> = {},
): Promise<Answer> {
  const query = new URLSearchParams({ ...params, token: login.token, _t: String(Date.now()) });
  return ask(`${daemon.url}/cgi-bin/luci/admin/store/${operation}?${query.toString()}`, {
    method,
    headers: {
      cookie: `sysauth_http=${login.id}`,
      accept: 'application/json, text/plain, */*',
      ...(method === 'POST' ? { 'content-length': '0', origin: daemon.url } : {}),
    },
  });
}

const TASK = { code: 0, stdout: '', stderr: '' };
const SUCCESS = { code: 200, msg: 'Success' };
const RECORD = `1795000000-${'a'.repeat(32)}`;

test.each<['GET' | 'POST', string, Record<string, string>, unknown]>([
  ['GET', 'installed', {}, []],
  ['POST', 'install', { package: 'demo' }, TASK],
  ['POST', 'install', { package: 'tiny-01', autoconf: '1', path: '/mnt/sda1', enable: '0' }, TASK],
  ['POST', 'upgrade', { package: 'demo' }, TASK],
  ['POST', 'update', {}, TASK],
  ['GET', 'status', { package: 'demo' }, { installed: expect.any(Boolean) as boolean }],
  ['GET', 'get_block_devices', {}, { code: 200, data: expect.any(Object) as object }],
  ['POST', 'toggle_docker', { hide: 'true' }, SUCCESS],
  ['POST', 'toggle_arch', { ignore: 'false' }, SUCCESS],
  ['POST', 'toggle_ipv4', { ipv4: 'true' }, SUCCESS],
  ['GET', 'run_records', {}, { code: 200, records: [] }],
  ['POST', 'del_record', { id: RECORD }, { code: 0 }],
  ['POST', 'unrun', { id: RECORD }, { code: 1, stderr: expect.any(String) as string }],
  ['GET', 'check_self_upgrade', {}, { code: 500, msg: expect.any(String) as string }],
  ['POST', 'do_self_upgrade', {}, { code: expect.any(Number) as number }],
])(
  "%s %s %j is answered as iStore's page expects it",
  async (...[method, operation, params, body]) => {
    const answer = await call(method, operation, params);

    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject(body as object);
  },
);

test('the task window finds the facility, the task, and its log', async () => {
  const headers = { cookie: `sysauth_http=${login.id}` };
  const window = (path: string): Promise<Answer> =>
    ask(`${daemon.url}/cgi-bin/luci/admin/system/tasks${path}`, { headers });

  const [ping, status, log] = await Promise.all([
    window(''),
    window('/status?task_id=istore'),
    window('/log?task_id=istore&offset=0'),
  ]);

  expect([ping.status, ping.text]).toEqual([200, '{}']);
  expect(JSON.parse(status.text)).toMatchObject({ running: expect.any(Boolean) as boolean });
  expect([200, 204]).toContain(log.status);
});

test('what the page switched stands in its own configuration file, beside what was there', async () => {
  const file = join(device.root, 'etc/config/istore');
  await writeFile(file, "# mine\nconfig istore 'istore'\n\toption channel 'beta'\n");
  await call('POST', 'toggle_docker', { hide: 'true' });
  await call('POST', 'toggle_docker', { hide: 'false' });
  await call('POST', 'toggle_ipv4', { ipv4: 'true' });

  expect(await readFile(file, 'utf8')).toBe(
    "# mine\nconfig istore 'istore'\n\toption ipv4 '1'\n\toption hide_docker '0'\n\toption channel 'beta'\n",
  );
  expect(JSON.parse((await call('GET', 'user_config')).text)).toEqual({
    hide_docker: false,
    ignore_arch: false,
    ipv4: true,
    channel: 'beta',
    super_arch: 'x86_64',
  });
});

test('the folder that was chosen for an app is offered for the next one', async () => {
  await call('POST', 'install', {
    package: 'tiny-02',
    autoconf: '1',
    path: "/mnt/it's über",
    enable: '1',
  });

  await expect
    .poll(async () => JSON.parse((await call('GET', 'user_config')).text) as object)
    .toMatchObject({ last_path: "/mnt/it's über" });
});

test('the page shows buttons for what the device has', async () => {
  expect(JSON.parse((await call('GET', 'features')).text)).not.toContain('docker');
  await writeFile(join(device.root, 'usr/bin/docker'), '');
  expect(JSON.parse((await call('GET', 'features')).text)).toContain('docker');
});

test('the page shows the backup to a folder, which it hides where there is no opkg', async () => {
  expect(JSON.parse((await call('GET', 'features')).text)).toEqual(
    expect.arrayContaining(['backup', 'opkg']),
  );
});

test('the device keeps the id that iStore gave it', async () => {
  const own = JSON.parse((await call('GET', 'uid')).text) as { uid: string };
  const file = join(device.root, 'etc/.app_store.id');
  await writeFile(file, '{"arch":"x86_64", "uid":"0123456789abcdef"}');
  expect(JSON.parse((await call('GET', 'uid')).text)).toMatchObject({ uid: '0123456789abcdef' });
  await writeFile(file, '{"uid":"<script>"}');
  expect(JSON.parse((await call('GET', 'uid')).text)).toEqual(own);
});

test.each([
  ['toggle_docker', { hide: 'maybe' }],
  ['toggle_docker', {}],
  ['toggle_ipv4', { hide: 'true' }],
])('%s %j is refused', async (operation, params: Record<string, string>) => {
  expect((await call('POST', operation, params)).status).toBe(400);
});

test('a page that was open before the daemon started again goes on with its token', async () => {
  const other = await createDevice();
  const open = await startDaemon(other);
  const { token } = (await (await open.get('admin/store/token')).json()) as { token: string };
  await open.restart();

  const answer = await open.post('admin/system/tasks/stop', { task_id: 'istore', token });

  expect(answer.status).toBe(204);
  await open.close();
  await other.close();
});
