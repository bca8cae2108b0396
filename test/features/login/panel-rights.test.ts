import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import type { Answer } from '../../support/ask.ts';
import { openEvents } from '../../support/event-reader.ts';
import { isRealRpcd } from '../../support/panel.ts';
import { sessionIn, type SessionHeaders } from '../../support/session-headers.ts';
import { startPanelDevice, type PanelDevice } from './start-panel-device.ts';

let on: PanelDevice;

beforeAll(async () => {
  on = await startPanelDevice();
});

afterAll(() => on.close());

afterEach(() => on.panel.fail('good'));

test("LuCI's session is handed over, and a log-out there closes the door here within two seconds", async () => {
  const { id } = await on.panel.logIn();
  const answer = await on.logIn({ session: id });
  const session = sessionIn(answer);
  expect([answer.status, await on.statusOf(session), session.cookie.includes(id)]).toEqual([
    204,
    200,
    false,
  ]);
  const { url, base } = on.daemon;
  const stream = await openEvents(`${url}${base}/admin/system/events`, { headers: session });

  await on.panel.logOut(id);
  const from = performance.now();

  expect(await stream.rest()).toEqual([]);
  expect(performance.now() - from).toBeLessThan(2000);
  await expect.poll(() => on.statusOf(session), { timeout: 1000 }).toBe(403);
});

test('a log-out here ends the session that was handed over, at once', async () => {
  const { id } = await on.panel.logIn();
  const session = sessionIn(await on.logIn({ session: id }));
  const token = await on.tokenOf(session);

  expect((await on.admin('logout', { method: 'POST', headers: session })).status).toBe(403);
  const answer = await on.admin('logout', { method: 'POST', headers: session, form: { token } });

  expect([answer.status, answer.headers['set-cookie']]).toEqual([
    204,
    ['depotd_session=; Path=/cgi-bin/panel; HttpOnly; SameSite=Strict; Max-Age=0'],
  ]);
  expect(await on.statusOf(session)).toBe(403);
  expect(await on.idsNow()).not.toContain(id);
});

test('sessions that nobody has logged in to, or that may not, are not taken over, and go on', async () => {
  const [stranger, { id: plain }] = [await on.panel.create(), await on.panel.logIn(300, 'plain')];

  expect((await on.logIn({ session: stranger })).status).toBe(403);
  expect((await on.logIn({ session: plain })).status).toBe(403);
  expect(await on.idsNow()).toEqual(expect.arrayContaining([stranger, plain]));
});

test('a log-in never takes up the id that the browser came with, and ends that session', async () => {
  const before = await on.idsNow();
  const earlier = sessionIn(await on.logIn());
  const earlierId = await on.newIdSince(before);
  const planted = { ...earlier, cookie: `depotd_session=${'p'.repeat(43)}` };

  const answer = await on.logIn(undefined, {
    headers: { cookie: `${planted.cookie}; ${earlier.cookie}` },
  });

  expect(sessionIn(answer).cookie).not.toBe(planted.cookie);
  expect([await on.statusOf(planted), await on.statusOf(earlier)]).toEqual([403, 403]);
  expect(await on.statusOf(sessionIn(answer))).toBe(200);
  await expect.poll(on.idsNow).not.toContain(earlierId);
});

test('a session handed over anew stays, though the one it replaces ends', async () => {
  const { id } = await on.panel.logIn();
  const first = sessionIn(await on.logIn({ session: id }));
  const second = sessionIn(await on.logIn({ session: id }, { headers: first }));

  expect([await on.statusOf(first), await on.statusOf(second)]).toEqual([403, 200]);
  expect(await on.idsNow()).toContain(id);
});

test('who may only read can read and log out, with either cookie, and is not told to log in', async () => {
  const { id, token } = await on.panel.logIn(300, 'reader');
  const own = sessionIn(await on.logIn({ username: 'reader', password: 'reads only 1' }));
  const rights = [
    { session: { cookie: `sysauth_http=${id}` }, token },
    { session: own, token: await on.tokenOf(own) },
  ];
  for (const { session, token: right } of rights) {
    const read = await on.admin('store/installed', { headers: session });
    const question = { method: 'POST', headers: session, form: { token: right } };
    const write = await on.admin('store/update', question);

    expect([read.status, write.status]).toEqual([200, 403]);
    expect(write.headers['x-luci-login-required']).toBeUndefined();
    expect((await on.admin('store/upload', question)).status).toBe(403);
    expect((await on.admin('logout', question)).status).toBe(204);
    expect(await on.statusOf(session)).toBe(403);
  }
});

test('who may write can', async () => {
  const session = sessionIn(await on.logIn({ username: 'writer', password: 'reads only 1' }));
  const form = { token: await on.tokenOf(session) };

  expect((await on.admin('store/update', { method: 'POST', headers: session, form })).status).toBe(
    200,
  );
});

test('a user without any right is refused, and the session that the password began is ended', async () => {
  const before = await on.idsNow();

  const answer = await on.logIn({ username: 'plain', password: 'reads only 1' });

  expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined]);
  expect(await on.idsNow()).toEqual(before);
});

test("a user without any right gets 403 with LuCI's cookie, and is not told to log in", async () => {
  const { id } = await on.panel.logIn(300, 'plain');

  const answer = await on.admin('store/token', { headers: { cookie: `sysauth_http=${id}` } });

  expect([answer.status, answer.headers['x-luci-login-required']]).toEqual([403, undefined]);
  expect(
    await on.statusOf({
      cookie: `sysauth_http=${id}; sysauth_https=${(await on.panel.logIn()).id}`,
    }),
  ).toBe(200);
});

test.skipIf(isRealRpcd)(
  'a session that waits for a change to be confirmed is left to the page that changes it',
  async () => {
    const { id } = await on.panel.logIn();
    on.panel.awaitConfirm(id);
    const session = sessionIn(await on.logIn());
    const token = await on.tokenOf(session);
    await on.logIn(undefined, { headers: sessionIn(await on.logIn()) });
    await on.admin('logout', { method: 'POST', headers: session, form: { token } });

    expect(await on.statusOf(session)).toBe(403);
    expect(await on.idsNow()).toContain(id);
    on.panel.awaitConfirm('');
  },
);

test('an upload is judged when it begins, and its session may end meanwhile', async () => {
  const { id } = await on.panel.logIn();
  const session = sessionIn(await on.logIn({ session: id }));
  const boundary = 'x'.repeat(20);
  const answered = new Promise<Answer>((resolve, reject) => {
    const upload = request(
      `${on.daemon.url}${on.daemon.base}/admin/store/upload`,
      {
        method: 'POST',
        headers: { ...session, 'content-type': `multipart/form-data; boundary=${boundary}` },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        const { headers } = response;
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers, text }));
      },
    );
    upload.on('error', reject);
    upload.write(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.run"\r\n\r\n#!/bin/sh\n`,
    );
    endSession(id, session).then(() => upload.end(`echo done\n\r\n--${boundary}--\r\n`), reject);
  });

  const { status, text } = await answered;

  expect([status, JSON.parse(text)]).toMatchObject([200, { code: 0 }]);
});

/** Not before the upload is under way. */
async function endSession(id: string, session: SessionHeaders): Promise<void> {
  const folder = join(on.device.root, 'tmp/depotd');
  const received = async (): Promise<string[]> =>
    (await readdir(folder)).filter((name) => name !== 'undo');
  await expect.poll(received).not.toEqual([]);
  await on.panel.logOut(id);
  await expect.poll(() => on.statusOf(session), { timeout: 4000 }).toBe(403);
}
