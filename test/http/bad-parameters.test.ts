import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { messageOf, send, type RawAnswer } from '../support/raw-request.ts';

let folder: string;
let device: Device;
let daemon: TestDaemon;
let token: string;

/** In place of opkg stands a program that notes how it was called. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-recorder-'));
  await writeFile(join(folder, 'recorder'), `#!/bin/sh\nprintf '%s\\n' "$*" >>${folder}/calls\n`, {
    mode: 0o755,
  });
  device = await createDevice({ opkg: join(folder, 'recorder') });
  daemon = await startDaemon(device);
  token = await daemon.token();
});

afterAll(async () => {
  await daemon.close();
  await device.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const calls = (): Promise<string> => readFile(join(folder, 'calls'), 'utf8').catch(() => '');
const OPERATIONS = ['install', 'remove', 'upgrade', 'autoconf'];

test('a parameter of which form and address say another value is refused, and its name said', async () => {
  const answer = await send(
    `${daemon.url}${daemon.base}/admin/store/install?token=${token}&package=demo`,
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'package=notes',
    },
  );

  expect(answer.status).toBe(400);
  expect(messageOf(answer)).toBe(
    'cannot use the parameter package: the form says another value than the address',
  );
});

test.each([
  ['install', 'application/x-www-form-urlencoded', 'gzip'],
  ['install', 'application/x-www-form-urlencoded', 'BR, gzip'],
  ['upload', 'multipart/form-data; boundary=x', 'zstd'],
  ['upload', 'multipart/form-data; boundary=x', 'deflate'],
])(
  '%s of a body of %s that is packed by %s is 415, and says so',
  async (operation, type, coding) => {
    const answer = await send(`${daemon.url}${daemon.base}/admin/store/${operation}`, {
      method: 'POST',
      headers: { 'Content-Type': type, 'Content-Encoding': coding },
      body: `token=${token}&package=demo`,
    });

    const msg = `cannot read a body of the encoding "${coding.toLowerCase()}": none is expected`;
    expect(answer).toMatchObject({ status: 415, headers: { 'accept-encoding': 'identity' } });
    expect(JSON.parse(answer.body)).toEqual({ code: 415, msg, stdout: '', stderr: msg });
  },
);

test('a body that says that nothing has packed it is read, and without one the field says nothing', async () => {
  const url = `${daemon.url}${daemon.base}/admin/store/install`;
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const form = await send(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Encoding': 'Identity' },
    body: `token=${token}`,
  });
  const none = await send(`${url}?token=${token}`, {
    method: 'POST',
    headers: { 'Content-Encoding': 'gzip' },
  });

  for (const answer of [form, none]) {
    expect(messageOf(answer)).toBe('cannot use the parameter package: it is missing');
  }
});

const NAMES: Record<string, string> = {
  'an option': 'package=-o/tmp/x',
  'a long option': 'package=--force-depends',
  'two dashes': 'package=--',
  'a way up': 'package=../x',
  'a path': 'package=/tmp/x.ipk',
  'a relative path': 'package=a/b',
  'a web address': 'package=http://evil.example/x.ipk',
  'a wildcard': 'package=*',
  'another wildcard': 'package=demo?',
  'a class': 'package=[a-z]',
  'a shell separator': 'package=a;b',
  'a shell substitution': 'package=$(id)',
  'a back quote': 'package=`id`',
  'a space': 'package=a%20b',
  'a line break': 'package=demo%0A',
  'a NUL': 'package=%00',
  'a NUL behind a name': 'package=demo%00',
  'a point in front': 'package=.hidden',
  'a quote': "package=it's",
  'a letter that is not ASCII': 'package=d%C3%A9mo',
  'a broken character': 'package=%FF',
  'a name of 129 letters': `package=${'a'.repeat(129)}`,
  'a name of 10 kB': `package=${'a'.repeat(10_240)}`,
  nothing: 'package=',
  'no parameter': '',
  'another parameter': 'Package=demo',
  'the parameter twice': 'package=demo&package=demo',
  'a list': 'package[]=demo',
};

test.each(Object.entries(NAMES))(
  '%s as a package is 400 for every operation, and no command runs',
  async (_, query) => {
    for (const operation of OPERATIONS) expectRefusal(await post(operation, query), true);
    expectRefusal(await send(`${daemon.url}${daemon.base}/admin/store/status?${query}`), false);

    expect(await tasks()).toEqual({});
    expect(await calls()).toBe('');
  },
);

test.each(Object.entries(NAMES).filter(([, query]) => query.startsWith('package=')))(
  '%s is refused in a form, too',
  async (_, query) => {
    for (const operation of OPERATIONS) {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      expectRefusal(
        await send(`${daemon.url}${daemon.base}/admin/store/${operation}`, {
          method: 'POST',
          headers,
          body: `token=${token}&${query}`,
        }),
        true,
      );
    }
    expect(await tasks()).toEqual({});
  },
);

const OTHERS: [string, string][] = [
  ['autoconf', 'path=relative'],
  ['autoconf', 'path=/a/../b'],
  ['autoconf', 'path=/a%0Ab'],
  ['autoconf', 'path=/a%00'],
  ['autoconf', 'path=/a/'],
  ['autoconf', `path=/${'a'.repeat(4096)}`],
  ['autoconf', 'enable=maybe'],
  ['install', 'autoconf=2'],
  ['install', 'autoconf=1&autoconf=1'],
  ['install', 'path=/a&path=/b'],
  ['install', 'enable=yes'],
  // Empty is none of the values that the schema names.
  ...['install', 'autoconf'].flatMap((operation) => [
    [operation, 'enable='] as [string, string],
    [operation, 'path='] as [string, string],
  ]),
  ['install', 'autoconf='],
];

test.each(OTHERS)('%s with %s is 400 and names the parameter', async (operation, query) => {
  const message = expectRefusal(await post(operation, `package=demo&${query}`), true);

  expect(message).toContain(`the parameter ${query.split('=')[0] ?? ''}`);
  expect(await tasks()).toEqual({});
});

test.each([
  'task_id=x&offset=-1',
  'task_id=x&offset=1e3',
  'task_id=x&offset=1234567890123456',
  'offset=0',
  `task_id=${'x'.repeat(65)}`,
])('a log with %s is 400', async (query) => {
  expectRefusal(await send(`${daemon.url}${daemon.base}/admin/system/tasks/log?${query}`), false);
});

test('a good name of 128 letters does reach the command', async () => {
  const name = `a${'b'.repeat(127)}`;
  // Without any list it would fetch them first.
  const lists = join(device.root, 'var/opkg-lists');
  await mkdir(lists, { recursive: true });
  await writeFile(join(lists, 'lab'), '');
  const answer = await post('install', `package=${name}`);
  expect(answer.status).toBe(200);
  const { task_id: task = '' } = JSON.parse(answer.body) as { task_id?: string };

  await daemon.finished(task);

  expect(await calls()).toContain(`install -- ${name}\n`);
});

function post(operation: string, query: string): Promise<RawAnswer> {
  return send(`${daemon.url}${daemon.base}/admin/store/${operation}?token=${token}&${query}`, {
    method: 'POST',
  });
}

async function tasks(): Promise<unknown> {
  return (await daemon.get('admin/system/tasks/status')).json();
}

function expectRefusal(answer: RawAnswer, isTask: boolean): string {
  expect(answer.status).toBe(400);
  const msg = messageOf(answer);
  expect(msg).toMatch(/^cannot use the parameter [\w[\]]+: /);
  expect(msg.length).toBeLessThan(300);
  expect(JSON.parse(answer.body)).toEqual(
    isTask ? { code: 400, msg, stdout: '', stderr: msg } : { code: 400, msg },
  );
  return msg;
}
