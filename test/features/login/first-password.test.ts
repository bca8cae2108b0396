import { chmod, readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';

import { ask, type Answer } from '../../support/ask.ts';
import { startPasswordDaemon, type PasswordDaemon } from './password-daemon.ts';

let daemon: PasswordDaemon['daemon'];
let owner: PasswordDaemon['owner'];
let socketPath: PasswordDaemon['socketPath'];
let admin: PasswordDaemon['admin'];
let forgetPassword: PasswordDaemon['forgetPassword'];
let close: PasswordDaemon['close'];

beforeAll(async () => {
  ({ daemon, owner, socketPath, admin, forgetPassword, close } = await startPasswordDaemon());
});

afterEach(() => forgetPassword());
afterAll(() => close());

test.for(['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via', 'x-real-ip'])(
  'the first password is not set through a proxy that sends %s',
  async (name) => {
    const headers = { [name]: '192.0.2.1' };
    const answers = [
      await owner.setPassword('theirs', undefined, { headers }),
      await owner.setPassword('theirs', undefined, { headers, socketPath }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect(answers.map(({ text }) => text.includes('proof_file'))).toEqual([false, false]);
  },
);

test('the first password is not set over loopback, which any user and container of this host reaches', async () => {
  const answer = await owner.setPassword('theirs');
  const wrong = await ask(`${daemon.url}${daemon.base}/admin/passwd`, {
    method: 'POST',
    form: { password: 'theirs', proof: 'x'.repeat(43) },
  });

  expect([answer.status, wrong.status]).toEqual([403, 403]);
  expect((await owner.tryPassword('theirs')).status).toBe(403);
  const { proof_file: file } = JSON.parse(answer.text) as { proof_file: string };
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('the proof that sets the first password serves once', async () => {
  const { proof_file: file } = JSON.parse((await owner.setPassword('secret')).text) as {
    proof_file: string;
  };
  const proof = (await readFile(file, 'utf8')).trim();
  const set = (password: string): Promise<Answer> =>
    admin('passwd', { method: 'POST', form: { password, proof } });

  const answers = await Promise.all([set('secret'), set('secret')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 403]);
  await forgetPassword();
  expect((await set('theirs')).status).toBe(403);
});

test('the first password can be set over the unix socket, which is root alone', async () => {
  expect((await owner.setPassword('secret', undefined, { socketPath })).status).toBe(204);
  expect((await owner.tryPassword('secret')).status).toBe(204);
});

test('of several first passwords that are set in one moment one is told to hold, and holds', async () => {
  const passwords = ['one', 'two', 'three', 'four'];
  const answers = await Promise.all(
    passwords.map((password) => owner.setPassword(password, undefined, { socketPath })),
  );

  expect(answers.map(({ status }) => status).sort()).toEqual([204, 403, 403, 403]);
  const winner = passwords[answers.findIndex(({ status }) => status === 204)] ?? '';
  expect((await owner.tryPassword(winner)).status).toBe(204);
});

test('over a unix socket that was opened to others it cannot', async () => {
  await chmod(socketPath, 0o666);
  onTestFinished(() => chmod(socketPath, 0o600));

  expect((await owner.setPassword('theirs', undefined, { socketPath })).status).toBe(403);
});

test('a removed password file closes every door and lets the owner begin anew', async () => {
  await owner.setFirstPassword('secret');
  await forgetPassword();

  expect((await owner.tryPassword('secret')).status).toBe(403);
  await owner.setFirstPassword('new');
  expect((await owner.tryPassword('new')).status).toBe(204);
});

test('who connects from elsewhere and goes at once has set nothing', async () => {
  const { port } = new URL(daemon.url);
  const body = 'password=theirs';
  await new Promise<void>((resolve) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1' }, () => {
      socket.write(
        `POST ${daemon.base}/admin/passwd HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        () => socket.destroy(),
      );
    });
    socket.on('close', () => resolve());
  });

  expect((await owner.tryPassword('theirs')).status).toBe(403);
});
