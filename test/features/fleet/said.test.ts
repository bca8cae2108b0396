import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import { openFleetDevice, shareFleetDevice } from './shared-device.ts';
import { ofDownloads, type StandIn } from './stand-in.ts';

/** What the operator reads while an action goes on, and at its end. */
let server: StandIn;
let on: FleetDevice;

/** With a device of its own. */
const begin = async (...set: string[]): Promise<void> => {
  [server, on] = await openFleetDevice(...set);
};

shareFleetDevice(
  {
    set: ['confirm=ask', 'allow=install', 'allow=upgrade', 'allow=run'].map(
      (each) => `fleet.${each}`,
    ),
  },
  (...shared) => ([server, on] = shared),
);

test('an action that waits for the owner says so, once', async () => {
  const set = await server.publish([moduleOf(ipk('one'))]);
  const action = await server.assign(set, on.id, { type: 'soft' });
  await on.until(action, (_, { action: shown }) => shown?.state === 'asking');
  await on.poll();

  const { messages } = await server.action(on.id, action);

  expect(messages.filter((text) => text.includes('waits for the owner'))).toHaveLength(1);
});

test('who has declined may agree as long as it is offered', async () => {
  const set = await server.publish([moduleOf(ipk('one'))]);
  const action = await server.assign(set, on.id, { isConfirmed: false });
  await on.until(action, (_, { action: shown }) => shown?.state === 'asking');
  await on.daemon.post('admin/fleet/confirm', { id: action, confirm: '0' });
  await on.poll();

  const answer = await on.daemon.post('admin/fleet/confirm', { id: action, confirm: '1' });

  expect(answer.status).toBe(200);
  expect(await on.over(action)).toMatchObject({ status: 'finished' });
});

test('what may not be done is denied once, however long it is offered', async () => {
  const set = await server.publish([planOf({ version: 1, colour: 'red' })]);
  const action = await server.assign(set, on.id, { isConfirmed: false });
  await on.until(action, ({ messages }) => messages.length > 0);
  for (let count = 0; count < 3; count += 1) await on.poll();

  const { messages } = await server.action(on.id, action);

  expect(messages.filter((text) => text.includes('cannot do the action'))).toHaveLength(1);
});

test('the last lines of a program are there also if all went well', async () => {
  const script = Buffer.from('#!/bin/sh\necho the answer is 42\n');

  const { status, messages } = await on.over(await on.rollOut({ files: { 'ask.run': script } }));

  expect(status).toBe('finished');
  expect(messages).toContain('the answer is 42');
});

test('a plan that cannot be read fails by a code of its own', async () => {
  const { status, messages } = await on.over(
    await on.rollOut(planOf({ version: 1, colour: 'red' })),
  );

  expect(status).toBe('error');
  expect(messages).toContain('error_code plan_unreadable');
});

test('an upgrade of what is not installed has nothing to do, and that is said', async () => {
  const action = await on.rollOut(planOf({ version: 1, upgrade: ['demo'] }), moduleOf(ipk('one')));

  const { status, messages } = await on.over(action);
  expect(status).toBe('finished');
  expect(messages.join('\n')).toContain('not installed, so not upgraded: demo');
});

test('a fifo that somebody put in the place of the model does not keep a poll', async () => {
  await begin();
  await mkdir(join(on.device.root, 'tmp/sysinfo'), { recursive: true });
  await runCommand(['mkfifo', join(on.device.root, 'tmp/sysinfo/model')]);

  await on.poll();

  expect((await server.attributes(on.id)).hostname).not.toBe('');
});

test('the name of the device is that of its hardware if the owner wants that', async () => {
  await begin('fleet.controller_id=school-%mac');
  await mkdir(join(on.device.root, 'sys/class/net/eth0'), { recursive: true });
  await writeFile(join(on.device.root, 'sys/class/net/eth0/address'), '02:00:5E:10:00:01\n');
  await on.poll();

  expect(await (await on.daemon.get('admin/fleet/status')).json()).toMatchObject({
    controller_id: 'school-02005e100001',
  });
  expect(server.requests.at(-1)).toContain('/controller/v1/school-02005e100001');
});

test('a server that cannot be asked is named at the start', async () => {
  await begin('fleet.token_file=/absent/token');

  const { reason } = await on.daemon.logged('fleet server cannot be asked');

  expect(reason).toContain('fleet.token_file');
});

test('an action is asked for when it is offered, and before its end is sent: no more', async () => {
  await on.poll();

  const action = await on.rollOut(moduleOf(ipk('one')));
  await on.over(action);

  const asked = server.requests.filter((line) => line.startsWith('GET') && line.includes('Base/'));
  expect(asked).toHaveLength(2);
});

test('a download under way says its bytes', async () => {
  server.intercept = ofDownloads((_, response) => {
    response.writeHead(200);
    response.write(Buffer.alloc(100, 'x'));
  });
  const action = await on.rollOut(
    moduleOf(ipk('one', { files: { '/usr/share/one': 'one'.repeat(5000) } })),
  );
  await on.poll();

  await expect
    .poll(async () => (await on.daemon.get('admin/fleet/status')).json(), { timeout: 20_000 })
    .toMatchObject({ action: { state: 'downloading', downloaded_bytes: 100 } });
  await server.cancel(on.id, action);
  await on.over(action);
});

test('an action that had ended at the server before is a warning of the doctor', async () => {
  server.intercept = (request, response) => {
    if (request.method !== 'POST' || request.url?.endsWith('/feedback') !== true) return false;
    response.writeHead(410).end();
    return true;
  };
  const action = await on.rollOut(moduleOf(ipk('one')));
  await on.until(action, (_, { action: shown }) => shown?.is_reported === true);

  const { checks } = (await (await on.daemon.get('admin/system/doctor')).json()) as {
    checks: { id: string; state: string; message: string }[];
  };

  expect(checks.find(({ id }) => id === 'fleet')).toMatchObject({ state: 'warning' });
  expect(checks.find(({ id }) => id === 'fleet')?.message).toContain(`action ${action} had ended`);
});
