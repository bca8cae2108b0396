import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { residentMb } from '../../bench/measures.ts';
import {
  createUploadDevice,
  FORM,
  HEAD,
  ipk,
  runFile,
  type UploadDevice,
} from './upload-device.ts';

const command = promisify(execFile);
const MIB = 1024 ** 2;
let on: UploadDevice;

beforeAll(async () => {
  on = await createUploadDevice({}, { set: ['main.upload_max_mb=1'] });
});
// Jobs of what was taken end by and by, and so do their files.
afterEach(() => expect.poll(on.left).toEqual([]));
afterAll(() => on.close());

describe('a body that is too large', () => {
  test('is refused with 413 as soon as it has passed the limit, while its sender still sends', async () => {
    const sending = on.open(FORM);
    sending.on('error', () => undefined);
    sending.write(HEAD);
    const answer = once(sending, 'response') as Promise<[IncomingMessage]>;
    // Never ended by the sender: what answers is the limit.
    for (let sent = 0; sent < 3; sent += 1) sending.write(Buffer.alloc(MIB / 2));
    expect((await answer)[0].statusCode).toBe(413);
    expect(await on.left()).toEqual([]);
    sending.destroy();
  });

  test('is refused with 413 before it is sent, where it says so itself', async () => {
    const sending = on.open({ ...FORM, 'content-length': String(100 * MIB) });
    sending.on('error', () => undefined);
    sending.flushHeaders();
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(413);
    sending.destroy();
  });

  test('by a byte is refused, and one of just the limit is taken', async () => {
    const file = runFile('exit 0');
    const atLimit = `${String(file.content)}${' '.repeat(MIB - String(file.content).length)}`;
    expect((await on.send([{ name: 'a.run', content: atLimit }])).status).toBe(200);
    const refused = await on.send([{ name: 'a.run', content: `${atLimit} ` }]);
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({
      error_code: 'not_allowed',
      remedy: 'Send a smaller file, or have main.upload_max_mb raised.',
    });
  });
});

test.each([
  ['in the middle of the file', `${HEAD}one`],
  ['before the file', '--b\r\nContent-Disp'],
])('a sender that goes away %s leaves nothing', async (_, body) => {
  const sending = on.open(FORM);
  sending.on('error', () => undefined);
  sending.write(body);
  if (body.includes('one')) await expect.poll(on.left).toHaveLength(1);
  sending.destroy();
  await expect.poll(on.left).toEqual([]);
  expect((await on.install(ipk('after'))).state).toBe('done');
});

test.skipIf(process.getuid?.() !== 0)(
  'a file that cannot be removed when its job ends goes with the next start',
  async () => {
    const sent = (await (await on.send([on.held])).json()) as { task_id: string };
    const [name = ''] = await on.left();
    const file = join(on.folder, name);
    // What something is mounted on cannot be removed (unlink(2), EBUSY).
    await command('mount', ['--bind', file, file]);
    onTestFinished(() => void command('umount', ['-l', file]).catch(() => undefined));

    expect((await on.goOn(sent.task_id)).state).toBe('done');
    expect(await on.left()).toEqual([name]);
    expect((await on.install(ipk('after'))).state).toBe('done');

    await command('umount', ['-l', file]);
    await on.daemon.restart();
    await expect.poll(on.left).toEqual([]);
  },
);

test.each([ipk('waits'), runFile('exit 0')])(
  'a file that goes from memory while it waits is not called damaged: $name',
  async (file) => {
    const held = (await (await on.send([on.held])).json()) as { task_id: string };
    const sent = (await (await on.send([file])).json()) as { task_id: string };
    await rm(on.folder, { recursive: true });

    await on.goOn(held.task_id);

    expect(await on.daemon.finished(sent.task_id)).toMatchObject({
      state: 'failed',
      error: `cannot install ${file.name}: the file that was sent is not there any more`,
      error_code: 'not_found',
    });
  },
);

test('more than four at a time are refused with 503, and no file of theirs is made', async () => {
  const waiting = Array.from({ length: 4 }, () => on.open(FORM));
  for (const sending of waiting) sending.on('error', () => undefined).write(`${HEAD}one`);
  await expect.poll(on.left).toHaveLength(4);
  expect((await on.send([runFile('true')])).status).toBe(503);
  for (const sending of waiting) sending.destroy();
  await expect.poll(on.left).toEqual([]);
});

describe.skipIf(process.getuid?.() !== 0)('a disk that is full', () => {
  test.each([true, false])(
    'is told with 507, whether the size was said before or not (%s), and nothing is left',
    async (isSaid) => {
      await rm(on.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
      await mkdir(on.folder, { recursive: true, mode: 0o700 });
      await command('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=0700', 'tmpfs', on.folder]);
      try {
        const body = Buffer.concat([
          Buffer.from(HEAD),
          Buffer.alloc(MIB / 2),
          Buffer.from('\r\n--b--\r\n'),
        ]);
        const sending = on.open(isSaid ? { ...FORM, 'content-length': String(body.length) } : FORM);
        sending.on('error', () => undefined).end(body);
        const [answer] = (await once(sending, 'response')) as [IncomingMessage];
        expect(answer.statusCode).toBe(507);
        expect(await on.left()).toEqual([]);
      } finally {
        await command('umount', [on.folder]);
      }
    },
  );
});

test.skipIf(process.getuid?.() !== 0)('a disk that is read-only is told with 503', async () => {
  await mkdir(on.folder, { recursive: true, mode: 0o700 });
  await command('mount', ['-t', 'tmpfs', '-o', 'ro,mode=0700', 'tmpfs', on.folder]);
  try {
    const answer = await on.send([ipk('demo')]);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      stderr: 'cannot answer: the disk is mounted read-only',
    });
  } finally {
    await command('umount', [on.folder]);
  }
});

test('an upload does not keep the daemon from stopping', async () => {
  const sending = on.open(FORM);
  sending.on('error', () => undefined).write(`${HEAD}one`);
  await expect.poll(on.left).toHaveLength(1);
  expect((await on.daemon.kill('SIGTERM')).code).toBe(0);
  await on.daemon.restart();
  expect(await on.left()).toEqual([]);
});

test('the place of uploads is below the device root', () => {
  expect(on.folder).toBe(join(on.device.root, 'tmp/depotd'));
});

test('a large file passes through little memory, also where its first bytes come together with the request', async () => {
  const large = await createUploadDevice(
    {},
    // As the start script has it; a process of its own, too.
    { set: ['main.upload_max_mb=128'], nodeFlags: ['--max-old-space-size=64'] },
  );
  onTestFinished(() => large.close());
  const before = residentMb(large.daemon.pid);
  const body = Buffer.concat([
    Buffer.from(`${HEAD}exit 0\n`),
    Buffer.alloc(96 * MIB),
    Buffer.from('\r\n--b--\r\n'),
  ]);
  const head = `POST ${large.daemon.base}/admin/store/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${FORM['content-type']}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;

  const socket = connect(Number(new URL(large.daemon.url).port), '127.0.0.1');
  socket.write(Buffer.concat([Buffer.from(head), body]));
  expect(await text(socket)).toContain('"code":0');

  expect(residentMb(large.daemon.pid, 'VmHWM') - before).toBeLessThan(32);
});
