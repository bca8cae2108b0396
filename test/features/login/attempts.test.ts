import { afterEach, beforeEach, expect, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { type Answer, type Question } from '../../support/ask.ts';
import { startPasswordDaemon, type PasswordDaemon } from './password-daemon.ts';

let daemon: PasswordDaemon['daemon'];
let owner: PasswordDaemon['owner'];
let setCheapPassword: PasswordDaemon['setCheapPassword'];
let socketPath: PasswordDaemon['socketPath'];
let tokenStatus: PasswordDaemon['tokenStatus'];
let close: PasswordDaemon['close'];

beforeEach(async () => {
  ({ daemon, owner, setCheapPassword, socketPath, tokenStatus, close } =
    await startPasswordDaemon());
});

afterEach(() => close());

test('after ten wrong attempts at once the address waits, right password or not, and others do not', async () => {
  await setCheapPassword('secret');
  const answers = await Promise.all(Array.from({ length: 15 }, () => owner.tryPassword('wrong')));
  const counts = answers.map(({ status }) => status).sort();

  expect(counts).toEqual([...Array<number>(10).fill(403), ...Array<number>(5).fill(429)]);
  const late = await owner.tryPassword('secret');
  expect(late.status).toBe(429);
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(late.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect((await owner.tryPassword('secret', { localAddress: '127.0.0.2' })).status).toBe(204);
});

const from = (address: string): Question => ({ headers: { 'x-forwarded-for': address } });

test.for([
  ['nginx', (address: string): Question => from(address)],
  ['the relay', (address: string): Question => ({ ...from(address), socketPath })],
  [
    'lighttpd',
    (address: string): Question => ({ headers: { forwarded: `for=${address};proto=http` } }),
  ],
] as const)('behind %s a stranger locks out nobody else', async ([, behind]) => {
  await setCheapPassword('secret');
  const { session } = await owner.logIn('secret');
  const stranger = behind('203.0.113.9');
  for (let index = 0; index < 12; index += 1) await owner.tryPassword('wrong', stranger);

  expect((await owner.tryPassword('secret', stranger)).status).toBe(429);
  const others: Question[] = [
    behind('192.0.2.1'),
    {},
    { socketPath },
    { ...stranger, headers: { ...stranger.headers, ...session } },
  ];
  for (const question of others) {
    expect((await owner.tryPassword('secret', question)).status).toBe(204);
  }
});

test('a client that is named in ten spellings of its address has ten guesses', async () => {
  await setCheapPassword('secret');
  const spellings = [
    '192.168.1.1',
    '::ffff:192.168.1.1',
    '::FFFF:192.168.1.1',
    '::ffff:c0a8:101',
    '::ffff:c0a8:0101',
    '::FFFF:C0A8:101',
    '0:0:0:0:0:ffff:c0a8:101',
    '0000:0000:0000:0000:0000:ffff:c0a8:0101',
    '0::ffff:192.168.1.1',
    '[::ffff:c0a8:101]:4711',
  ];
  const tryEach = async (): Promise<number[]> => {
    const tries = spellings.map((spelling) =>
      owner.tryPassword('wrong', { ...from(spelling), socketPath }),
    );
    return (await Promise.all(tries)).map(({ status }) => status);
  };

  expect(await tryEach()).toEqual(Array<number>(10).fill(403));
  expect(await tryEach()).toEqual(Array<number>(10).fill(429));
});

test('who may name any client over loopback has thirty guesses in all', async () => {
  await setCheapPassword('secret');
  const answers: Answer[] = [];
  for (let index = 0; index < 40; index += 1) {
    answers.push(await owner.tryPassword('wrong', from(`198.51.100.${index}`)));
  }

  expect(answers.filter(({ status }) => status === 403)).toHaveLength(30);
  expect((await owner.tryPassword('secret')).status).toBe(204);
  expect((await owner.tryPassword('secret', { socketPath })).status).toBe(204);
  expect((await owner.tryPassword('secret', { ...from('192.0.2.7'), socketPath })).status).toBe(
    204,
  );
});

test('another user of this host does not use up the guesses of root', async () => {
  await setCheapPassword('secret');
  const guess = `const { request } = require('node:http'); process.setuid(65534);
    const next = (left) => left > 0 && request('${daemon.url}${daemon.base}/admin/login',
      { method: 'POST', agent: false, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      (answer) => { console.log(answer.statusCode); answer.resume(); next(left - 1); }).end('password=x');
    next(12);`;
  const { stdout } = await runCommand([process.execPath, '-e', guess]);

  expect(stdout.trim().split('\n')).toEqual([
    ...Array<string>(10).fill('403'),
    ...Array<string>(2).fill('429'),
  ]);
  expect((await owner.tryPassword('secret')).status).toBe(204);
});

test('those who are logged in stay so while their address waits', async () => {
  await setCheapPassword('secret');
  const { session } = await owner.logIn('secret');
  await Promise.all(Array.from({ length: 11 }, () => owner.tryPassword('wrong')));

  expect(await tokenStatus(session)).toBe(200);
});

test('the old password is guessed at no faster through passwd', async () => {
  await setCheapPassword('secret');
  for (let index = 0; index < 10; index += 1) {
    expect((await owner.setPassword('mine', `guess ${index}`)).status).toBe(403);
  }

  expect((await owner.setPassword('mine', 'secret')).status).toBe(429);
});

/** Each of the 33 that are let wait is a hash of 60 ms. */
const HASH_COST = 2 ** 12;
test('many at once wait for their turn, and neither reads nor the owner wait with them', async () => {
  await setCheapPassword('secret', HASH_COST);
  const { session } = await owner.logIn('secret');
  const attempts = Array.from({ length: 60 }, (_, index) =>
    owner.tryPassword('wrong', { ...from(`198.51.100.${index}`), socketPath }),
  );
  let answered = 0;
  for (const attempt of attempts) void attempt.then(() => (answered += 1));
  expect(await tokenStatus(session)).toBe(200);
  expect((await owner.tryPassword('secret', { headers: session })).status).toBe(204);
  expect(answered).toBeLessThan(60);
  const answers = await Promise.all(attempts);

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403, 503]));
});
