import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { END_OF_TAR, tarHeader, tarMember } from '../../../src/device/tar/tar-writer.ts';
import { residentMb } from '../../bench/measures.ts';
import { createApkDevice } from '../../device/apk-device/apk-device.ts';
import { startDaemon } from '../../device/daemon.ts';
import { createTar } from '../../device/tar.ts';
import { createUploadDevice, type UploadDevice } from './upload-device.ts';

/** Small files that would fill the memory, sent to a daemon that has as much as on a device. */
const AS_STARTED = { nodeFlags: ['--max-old-space-size=64'] };

let on: UploadDevice;
beforeAll(async () => (on = await createUploadDevice({}, AS_STARTED)));
afterAll(() => on.close());

const MANY = 40_000;

/** A package of opkg's with links of these names. */
function ipkWith(names: Iterable<string>): Buffer {
  const text = Buffer.from('Package: hostile\nVersion: 1\nArchitecture: all\n');
  const control = gzipSync(
    Buffer.concat([...tarMember({ name: './control', mode: 0o644 }, text), END_OF_TAR]),
  );
  const links = Array.from(names, (name) =>
    tarHeader({ name, type: '2', target: 'x', mode: 0o777, sizeBytes: 0 }, 'gnu'),
  );
  const pieces = {
    'debian-binary': Buffer.from('2.0\n'),
    'control.tar.gz': control,
    'data.tar.gz': gzipSync(Buffer.concat([...links.flat(), END_OF_TAR])),
  };
  const members = Object.entries(pieces).flatMap(([name, content]) =>
    tarMember({ name, mode: 0o644 }, content),
  );
  return gzipSync(Buffer.concat([...members, END_OF_TAR]));
}

/** @returns the status of the answer */
async function send(operation: string, file: Buffer, name = 'file'): Promise<number> {
  const form = new FormData();
  form.append('file', new Blob([file]), name);
  const url = `${on.daemon.url}${on.daemon.base}/admin/store/${operation}`;
  // To make the file takes seconds: a connection that was closed meanwhile is not used again.
  await delay(10);
  return (await fetch(url, { method: 'POST', body: form })).status;
}

test('a form that says one name thousands of times takes no memory', async () => {
  const before = residentMb(on.daemon.pid, 'VmHWM');
  const answer = await fetch(`${on.daemon.url}${on.daemon.base}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Array<string>(32_700).fill('a').join('&'),
  });

  expect(answer.status).toBe(400);
  expect(residentMb(on.daemon.pid, 'VmHWM') - before).toBeLessThan(32);
});

test('advisories of which each is none take no memory', async () => {
  const before = residentMb(on.daemon.pid);
  const body = `advisories=[${Array.from({ length: 19_000 }, () => '{}').join(',')}]`;
  const answer = await fetch(`${on.daemon.url}${on.daemon.base}/admin/system/advisories`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `${body}&token=${await on.daemon.token()}`,
  });

  expect(answer.status).toBe(400);
  expect(residentMb(on.daemon.pid, 'VmHWM') - before).toBeLessThan(32);
});

test('a backup in whose list everything is wrong is refused', async () => {
  const files = Array.from({ length: 300_000 }, () => ({}));
  const content = Buffer.from(JSON.stringify({ format: 1, files }));
  const backup = gzipSync(createTar([{ name: 'manifest.json', mode: 0o600, content }]));

  expect(await send('add_backup', backup)).toBe(400);
});

test('a package with links of thousands of long names is refused', async () => {
  const names = Array.from({ length: MANY }, (_, index) => `${index}${'x'.repeat(2000)}`);

  expect(await send('upload?hold=1', ipkWith(names), 'a.ipk')).toBe(400);
  expect(await send('upload?hold=1', ipkWith(names.slice(0, 1000)), 'a.ipk')).toBe(200);
});

test('so is one with names that are thousands of folders deep', async () => {
  expect(await send('upload?hold=1', ipkWith(['a/'.repeat(4000)]), 'a.ipk')).toBe(400);
  expect(await send('upload?hold=1', ipkWith(['a/'.repeat(100)]), 'a.ipk')).toBe(200);
});

test('a package of apk that names each of its files ten thousand times is refused', async () => {
  const device = await createApkDevice();
  onTestFinished(() => device.close());
  const daemon = await startDaemon(device, AS_STARTED);
  onTestFinished(() => daemon.close());
  const form = new FormData();
  form.append('file', new Blob([manyTimes(10_000)]), 'a.apk');

  const url = `${daemon.url}${daemon.base}/admin/store/upload?hold=1`;
  expect((await fetch(url, { method: 'POST', body: form })).status).toBe(400);
  expect((await daemon.get('/healthz')).status).toBe(200);
});

/** In apk's third format (adb(5)): one folder with one file, both listed so often. */
function manyTimes(count: number): Buffer<ArrayBuffer> {
  const pieces: Buffer[] = [Buffer.alloc(8)];
  const put = (kind: number, part: Buffer): number => {
    const at = pieces.reduce((sum, { length }) => sum + length, 0);
    pieces.push(part, Buffer.alloc((4 - (part.length % 4)) % 4));
    return kind * 2 ** 28 + at;
  };
  const text = (value: string): number =>
    put(0x8, Buffer.from(`${String.fromCharCode(value.length)}${value}`));
  const list = (kind: number, values: readonly number[]): number => {
    const words = Buffer.alloc(4 * (values.length + 1));
    [values.length + 1, ...values].forEach((value, index) => words.writeUInt32LE(value, 4 * index));
    return put(kind, words);
  };
  const [OBJECT, ARRAY] = [0xe, 0xd];
  const times = (value: number): number => list(ARRAY, Array<number>(count).fill(value));
  const files = times(list(OBJECT, [text('file')]));
  const folders = times(list(OBJECT, [text('usr'), 0, files]));
  const root = list(OBJECT, [list(OBJECT, [text('hostile'), text('1.0-r0')]), folders]);
  const block = Buffer.concat(pieces);
  block.writeUInt32LE(root, 4);
  const head = Buffer.from('ADB.pckg....');
  head.writeUInt32LE(block.length + 4, 8);
  return Buffer.concat([head, block]);
}
