import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ICON_FOLDER } from '../../../src/features/icons/icon-names.ts';
import { runCommand } from '../../device/command.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>';
const WEBP = Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1');

let device: Device;
let daemon: TestDaemon;
let folder: string;

beforeAll(async () => {
  device = await createDevice();
  daemon = await startDaemon(device);
  folder = join(device.root, ICON_FOLDER);
  await mkdir(folder, { recursive: true });
});
afterAll(async () => {
  await daemon.close();
  await device.close();
});

const ask = (name: string, headers?: Record<string, string>): Promise<Response> =>
  daemon.get(`admin/store/icon?name=${encodeURIComponent(name)}`, headers);

describe('an icon is sent with the type of its content', () => {
  test.each<[file: string, content: Buffer | string, type: string]>([
    ['png.png', PNG, 'image/png'],
    ['svg.svg', SVG, 'image/svg+xml'],
    ['webp.webp', WEBP, 'image/webp'],
    ['odd.svg', PNG, 'image/png'],
    ['declared.svg', `<?xml version="1.0"?>\n<!-- x -->\n${SVG}`, 'image/svg+xml'],
  ])('%s', async (file, content, type) => {
    await writeFile(join(folder, file), content);

    const answer = await ask(file.replace(/\.\w+$/, ''));

    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from(content));
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe('what is no picture is not sent', () => {
  test.each<[what: string, name: string, make: (path: string) => Promise<unknown>]>([
    ['a page', 'page', (path) => writeFile(path, '<html><svg></svg></html>')],
    ['an empty file', 'empty', (path) => writeFile(path, '')],
    ['a link to something secret', 'link', (path) => symlink('/etc/shadow', path)],
    ['a folder', 'folder', (path) => mkdir(path)],
    ['a fifo that nobody writes to', 'fifo', (path) => runCommand(['mkfifo', path])],
    ['one of 257 KiB', 'large', (path) => writeFile(path, SVG.padEnd(257 * 1024))],
  ])('%s', async (_what, name, make) => {
    await make(join(folder, `${name}.svg`));

    const answer = await ask(name);

    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { code: 404, msg: `cannot find an icon of ${name}` },
    ]);
  });

  test.each(['../shadow', 'a/b', '', '.hidden'])('%s is no name', async (name) => {
    expect((await ask(name)).status).toBe(400);
  });
});

describe('a client that knows no pictures can ask for bytes', () => {
  test.each<[accept: string, type: string]>([
    ['application/octet-stream', 'application/octet-stream'],
    ['application/json, Application/Octet-Stream;q=0.5', 'application/octet-stream'],
    ['image/*, application/octet-stream', 'image/png'],
    ['image/avif,image/webp,*/*;q=0.8', 'image/png'],
    ['*/*', 'image/png'],
  ])('of Accept: %s it is %s', async (accept, type) => {
    await writeFile(join(folder, 'asked.png'), PNG);

    const answer = await ask('asked', { accept });

    expect([answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual([
      type,
      expect.stringContaining('Accept'),
    ]);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(PNG);
  });
});

test('a browser that has the icon is not sent it again', async () => {
  await writeFile(join(folder, 'kept.svg'), SVG);
  const etag = (await ask('kept')).headers.get('etag') ?? '';

  const again = await ask('kept', { 'if-none-match': etag });

  expect([again.status, await again.text()]).toEqual([304, '']);
});
