import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { UbusTable } from '../../../src/device/ubus/blob.ts';
import { withUbus, type UbusReply } from '../../../src/device/ubus/ubus-connection.ts';
import { startRpcd, type RpcdStandIn } from '../rpcd/rpcd.ts';

/**
 * What depotd relies on, and what the stand-in acts out. With UBUS_SOCKET=/path of a real ubusd the
 * same tests hold the real rpcd; its /etc/config/rpcd needs root (labpass, list read and write `*`)
 * and reader, writer, plain ("reads only 1"; list read depotd, list write depotd, nothing).
 */
let folder: string;
let standIn: RpcdStandIn | undefined;
let socketPath: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-rpcd-'));
  socketPath = process.env.UBUS_SOCKET ?? join(folder, 'ubus.sock');
  if (process.env.UBUS_SOCKET === undefined) standIn = await startRpcd(socketPath);
});

afterAll(async () => {
  await standIn?.close();
  await rm(folder, { recursive: true, force: true });
});

const call = (method: string, message: UbusTable = {}): Promise<UbusReply> =>
  withUbus({ socketPath, timeoutMs: 5000 }, (ask) => ask({ object: 'session', method, message }));
const begin = async (message: UbusTable): Promise<UbusTable> =>
  (await call('login', { username: 'root', password: 'labpass', ...message })).messages[0] ?? {};
const idOf = ({ ubus_rpc_session: id }: UbusTable): { ubus_rpc_session: string } => ({
  ubus_rpc_session: typeof id === 'string' ? id : '',
});
const leftOf = async (id: UbusTable): Promise<number | undefined> => {
  const { messages } = await call('list');
  const found = messages.find((entry) => entry.ubus_rpc_session === id.ubus_rpc_session);
  return typeof found?.expires === 'number' ? found.expires : undefined;
};

const ZEROS = { ubus_rpc_session: '0'.repeat(32) };
const UNKNOWN = { ubus_rpc_session: '00112233445566778899aabbccddeeff' };

test('a log-in gives a new id, the timeout asked for, and the name alone as data', async () => {
  const [first, second] = [await begin({ timeout: 77 }), await begin({})];

  expect(first).toMatchObject({ timeout: 77, data: { username: 'root' } });
  expect(Object.keys(first.data ?? {})).toEqual(['username']);
  expect(second).toMatchObject({ timeout: 300 });
  expect(first.ubus_rpc_session).toMatch(/^[0-9a-f]{32}$/);
  expect(first.ubus_rpc_session).not.toBe(second.ubus_rpc_session);
});

test.for([
  ['a wrong password', { username: 'root', password: 'wrong' }, 6],
  ['an empty password', { username: 'root', password: '' }, 6],
  ['an unknown user', { username: 'nobody', password: 'labpass' }, 6],
  ['no password', { username: 'root' }, 2],
  ['no user', { password: 'labpass' }, 2],
] as const)('%s begins no session', async ([, message, status]) => {
  expect(await call('login', message)).toMatchObject({ status, messages: [] });
});

test.for([
  ['get', UNKNOWN, 4],
  ['access', UNKNOWN, 4],
  ['list', UNKNOWN, 4],
  ['destroy', UNKNOWN, 4],
  ['set', { ...UNKNOWN, values: {} }, 4],
  ['get', {}, 2],
  ['destroy', {}, 2],
  ['destroy', ZEROS, 6],
  ['nosuch', {}, 3],
] as const)('%s of %o has the status %i', async ([method, message, status]) => {
  expect((await call(method, message)).status).toBe(status);
});

test('values are kept beside others', async () => {
  const id = idOf(await begin({}));
  await call('set', { ...id, values: { token: 'x' } });

  expect((await call('get', id)).messages).toEqual([{ values: { username: 'root', token: 'x' } }]);
});

test('rights are those of the user, and the right to write brings the one to read', async () => {
  const may = async (username: string): Promise<unknown[]> => {
    const id = idOf(await begin({ username, ...(username !== 'root' && PASSWORD) }));
    const answers = ['read', 'write'].map(async (right) => {
      const question = { scope: 'access-group', object: 'depotd', function: right };
      return (await call('access', { ...id, ...question })).messages[0]?.access;
    });
    return Promise.all(answers);
  };

  expect(await may('reader')).toEqual([true, false]);
  expect(await may('writer')).toEqual([true, true]);
  expect(await may('plain')).toEqual([false, false]);
});

const PASSWORD = { password: 'reads only 1' };

test('only a list without id leaves the idle time as it is', async () => {
  const id = idOf(await begin({ timeout: 9 }));
  await delay(2100);
  const seen = [await leftOf(id), await leftOf(id)];
  const renewed: (number | undefined)[] = [];
  for (const method of ['get', 'list', 'access']) {
    await delay(1100);
    const question =
      method === 'access' ? { scope: 'access-group', object: 'x', function: 'read' } : {};
    await call(method, { ...id, ...question });
    renewed.push(await leftOf(id));
  }

  expect(seen.every((left) => left !== undefined && left <= 7)).toBe(true);
  expect(renewed.every((left) => left !== undefined && left >= 8)).toBe(true);
});

test('a session ends when nobody has asked for it, and when it is destroyed', async () => {
  const [idle, ended] = [idOf(await begin({ timeout: 1 })), idOf(await begin({}))];
  await call('destroy', ended);
  await delay(1300);

  expect([(await call('get', idle)).status, (await call('get', ended)).status]).toEqual([4, 4]);
});

test('the list has the session of zeros, whom it belongs to, and what it may', async () => {
  const id = idOf(await begin({ username: 'reader', ...PASSWORD }));
  const { messages } = await call('list');
  const found = messages.find((entry) => entry.ubus_rpc_session === id.ubus_rpc_session);

  expect(messages.some((entry) => entry.ubus_rpc_session === ZEROS.ubus_rpc_session)).toBe(true);
  expect(found).toMatchObject({
    data: { username: 'reader' },
    acls: { 'access-group': { depotd: ['read'] } },
  });
});

test('nobody else offers the object', async () => {
  const asked = withUbus({ socketPath, timeoutMs: 5000 }, (ask) =>
    ask({ object: 'nosuch', method: 'get', message: {} }),
  );

  await expect(asked).rejects.toThrow('nobody offers the object nosuch');
});
