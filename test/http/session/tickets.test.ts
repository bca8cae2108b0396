import { afterAll, beforeAll, expect, test } from 'vitest';

import { createTickets, ticketPath } from '../../../src/http/session/tickets.ts';
import { startPasswordDaemon, type PasswordDaemon } from '../../features/login/password-daemon.ts';
import type { SessionHeaders } from '../../support/session-headers.ts';

let on: PasswordDaemon;
let session: SessionHeaders;

beforeAll(async () => {
  on = await startPasswordDaemon();
  await on.owner.setFirstPassword('secret');
  ({ session } = await on.owner.logIn('secret'));
});

afterAll(() => on.close());

async function ticketFor(address: string, headers = session): Promise<string> {
  const question = { headers };
  const { text } = await on.admin(`ticket?for=${encodeURIComponent(address)}`, question);
  return (JSON.parse(text) as { ticket: string }).ticket;
}

const statusOf = async (path: string, method = 'GET'): Promise<number> =>
  (await on.admin(path, { method })).status;

test.each([
  'admin/system/tasks/status',
  '/admin/system/tasks/status',
  '/cgi-bin/panel/admin/system/tasks/status',
])('a ticket for %s opens it once', async (address) => {
  const ticket = await ticketFor(address);

  expect([
    await statusOf(`system/tasks/status?ticket=${ticket}`),
    await statusOf(`system/tasks/status?ticket=${ticket}`),
  ]).toEqual([200, 403]);
});

test('a ticket opens no other address, no other query and no change', async () => {
  const plain = 'admin/store/icon';
  const asked = 'admin/system/tasks/log?task_id=1&offset=2';

  expect([
    await statusOf(`store/token?ticket=${await ticketFor(plain)}`),
    await statusOf(`system/tasks/log?task_id=3&offset=2&ticket=${await ticketFor(asked)}`),
    await statusOf(`system/tasks/log?task_id=1&offset=2&ticket=${await ticketFor(asked)}`),
    await statusOf(`store/update?ticket=${await ticketFor('admin/store/update')}`, 'POST'),
    await statusOf('store/token?ticket=made-up'),
  ]).toEqual([403, 403, 404, 403, 403]);
});

test('a ticket ends with its session', async () => {
  const other = await on.owner.logIn('secret');
  const ticket = await ticketFor('admin/store/token', other.session);
  const { session: headers, token } = other;
  await on.admin('logout', { method: 'POST', headers, form: { token } });

  expect(await statusOf(`store/token?ticket=${ticket}`)).toBe(403);
});

test('a ticket is given for addresses of the interface alone, and to nobody without a session', async () => {
  const statuses = [];
  for (const address of ['../../etc', 'admin/../../x', '//evil/admin/x', 'admin/x#y', '']) {
    const { status } = await on.admin(`ticket?for=${encodeURIComponent(address)}`, {
      headers: session,
    });
    statuses.push(status);
  }
  expect(statuses).toEqual([400, 400, 400, 400, 400]);
  expect((await on.admin('ticket?for=admin/store/token')).status).toBe(403);
});

test('a ticket is good for half a minute, and the newest 256 of them are', () => {
  let now = 0;
  const tickets = createTickets(() => now);
  const path = ticketPath('/base', 'admin/x');
  const headers = new Headers({ cookie: 'a=1', 'x-depotd-key': 'k', host: 'left-out' });
  const address = new URL('http://localhost/base/admin/x');
  const old = tickets.issue(path, headers);
  now = 29_999;
  const first = tickets.issue(path, headers);
  now = 30_000;

  expect(tickets.redeem(old, address)).toBeUndefined();
  for (let count = 0; count < 256; count += 1) tickets.issue(path, headers);
  expect(tickets.redeem(first, address)).toBeUndefined();
  const last = tickets.redeem(tickets.issue(path, headers), address);
  expect(Object.fromEntries(last ?? [])).toEqual({ cookie: 'a=1', 'x-depotd-key': 'k' });
});
