import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { launchDaemon } from './daemon-process.ts';
import { startDaemon, type TestDaemon } from './daemon.ts';
import { createDevice, type Device } from './device.ts';
import { send } from '../support/raw-request.ts';

let device: Device;
let daemon: TestDaemon;
let socketPath: string;

beforeEach(async () => {
  device = await createDevice();
  socketPath = join(device.root, 'tmp/depotd.sock');
  daemon = await startDaemon(device, { set: [`main.listen=unix:${socketPath}`] });
});

afterEach(async () => {
  await daemon.close();
  await device.close();
});

test('a second daemon on the same device does not start, and the first loses nothing by it', async () => {
  await expect(launchDaemon(device, {}, [])).rejects.toThrow(
    `cannot start: process ${daemon.pid} works with the same main.state_dir`,
  );

  const task = await daemon.submit('update');
  await daemon.finished(task);
  await daemon.kill('SIGKILL');
  await daemon.restart();

  expect(await daemon.status(task)).toMatchObject({ state: 'done' });
});

test('a daemon that is started before the last one has ended waits for it, and keeps its socket', async () => {
  await expect
    .poll(() =>
      stat(socketPath).then(
        (entry) => entry.isSocket(),
        () => false,
      ),
    )
    .toBe(true);
  const unfinished = request({
    socketPath,
    method: 'POST',
    path: `${daemon.base}/admin/store/upload`,
    headers: {
      Host: 'localhost',
      'Content-Type': 'multipart/form-data; boundary=x',
      'Content-Length': 1000,
    },
  });
  unfinished.on('error', () => undefined).write('--x\r\n');
  const [socket] = (await once(unfinished, 'socket')) as [Socket];
  if (socket.connecting) await once(socket, 'connect');

  const ended = daemon.kill('SIGTERM');
  const next = await launchDaemon(device, { set: [`main.listen=unix:${socketPath}`] }, []);

  expect(await ended).toEqual({ code: 0, signal: null });
  await expect
    .poll(() =>
      send('http://localhost/healthz', { socketPath }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  await next.kill('SIGTERM');
});

test('a file that is no socket is not taken for a stale one', async () => {
  const path = join(device.root, 'tmp/precious');
  await writeFile(path, 'precious');
  await daemon.close();

  await expect(launchDaemon(device, { set: [`main.listen=unix:${path}`] }, [])).rejects.toThrow(
    'cannot listen on unix:',
  );

  expect(await readFile(path, 'utf8')).toBe('precious');
});
