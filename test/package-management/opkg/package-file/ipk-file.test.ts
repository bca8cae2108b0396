import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';

import {
  inspectIpk,
  readIpkControl,
} from '../../../../src/package-management/opkg/package-file/ipk-file.ts';
import { createIpk } from '../../../device/ipk.ts';
import { simplePackage } from '../../../device/packages/package-parts.ts';
import type { TarEntry } from '../../../../packaging/tar.ts';
import { createTar } from '../../../device/tar.ts';
import { openFiles } from '../../../support/open-files.ts';

const command = promisify(execFile);
const MIB = 1024 ** 2;
let folder: string;

beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'depotd-ipk-'))));
afterEach(() => rm(folder, { recursive: true }));

/** A package file of nothing but these. */
async function writeData(entries: TarEntry[]): Promise<string> {
  const content = gzipSync(createTar(entries), { level: 1 });
  const ipk = join(folder, 'a.ipk');
  await writeFile(ipk, gzipSync(createTar([{ name: './data.tar.gz', mode: 0o644, content }])));
  return ipk;
}

test('a package is known by what its control file says, not by its name', async () => {
  const { bytes } = createIpk(simplePackage('hello', { version: '1.2-3' }));
  await writeFile(join(folder, 'other.ipk'), bytes);
  expect(await inspectIpk(join(folder, 'other.ipk'), MIB)).toEqual({
    name: 'hello',
    version: '1.2-3',
    depends: [],
    installedBytes: 10_240,
  });
});

test('one that is refused, though most of it was not read, is not left open', async () => {
  const large = { name: './large', mode: 0o644, content: randomBytes(4 * MIB) };
  const ipk = await writeData([{ ...large, name: '../x', content: Buffer.from('x') }, large]);

  await expect(inspectIpk(ipk, 64 * MIB)).rejects.toMatchObject({ code: 'bad_request' });

  await expect.poll(() => openFiles(folder)).toEqual([]);
});

test('what stands behind the end of the files is passed over, and what follows them is read', async () => {
  const entry = (name: string, content: Buffer | string): TarEntry => ({
    ...{ name, mode: 0o644 },
    content: Buffer.from(content),
  });
  const control = createTar([entry('./control', 'Package: hello\nVersion: 1\n')]);
  const files = Buffer.concat([createTar([entry('./usr/a', 'x')]), randomBytes(6 * MIB)]);
  const members = [
    entry('./debian-binary', '2.0\n'),
    entry('./data.tar.gz', gzipSync(files)),
    entry('./control.tar.gz', gzipSync(control)),
  ];
  await writeFile(join(folder, 'a.ipk'), gzipSync(createTar(members)));

  expect(await inspectIpk(join(folder, 'a.ipk'), 64 * MIB)).toMatchObject({ name: 'hello' });
});

test('the control file is read behind scripts of any size', async () => {
  const script = { name: './postinst', mode: 0o755, content: randomBytes(MIB) };
  const control = { name: './control', mode: 0o644, content: Buffer.from('Package: hello\n') };
  const content = gzipSync(createTar([script, control]));
  const ipk = join(folder, 'a.ipk');
  await writeFile(ipk, gzipSync(createTar([{ name: './control.tar.gz', mode: 0o644, content }])));

  expect(await readIpkControl(ipk)).toBe('Package: hello\n');
  await expect.poll(() => openFiles(folder)).toEqual([]);
});

test('names longer than a tar header has room for are read', async () => {
  const { bytes } = createIpk(
    simplePackage('hello', { files: { [`/usr/share/${'a'.repeat(60)}/x`]: 'x' } }),
  );
  await writeFile(join(folder, 'a.ipk'), bytes);
  expect((await inspectIpk(join(folder, 'a.ipk'), MIB)).name).toBe('hello');
});

test('what unpacks to more than there is room for is refused without being unpacked', async () => {
  const zeros = Buffer.alloc(64 * MIB);
  const ipk = await writeData([{ name: './zeros', mode: 0o644, content: zeros }]);
  expect((await stat(ipk)).size).toBeLessThan(MIB);
  await expect(inspectIpk(ipk, 8 * MIB)).rejects.toMatchObject({
    code: 'no_space',
    message: expect.stringContaining(
      'it unpacks to more than the device has room for, 8.00 MiB are free',
    ) as string,
    explanation: { code: 'no_space' },
  });
});

test.each(['gnu', 'pax', 'ustar'])(
  'a long name that leads upwards is seen in the %s form',
  async (format) => {
    const upwards = `${'../'.repeat(3)}${'a'.repeat(60)}/${'b'.repeat(60)}/evil`;
    await writeFile(join(folder, 'evil'), 'x');
    await command('tar', [
      '-c',
      '-P',
      `--format=${format}`,
      `--transform=s,^evil$,${upwards},`,
      '-C',
      folder,
      '-zf',
      join(folder, 'data.tar.gz'),
      'evil',
    ]);
    await command('tar', ['-C', folder, '-zcf', join(folder, 'a.ipk'), 'data.tar.gz']);
    await expect(inspectIpk(join(folder, 'a.ipk'), MIB)).rejects.toThrow('outside of its place');
  },
);

const file = (name: string): TarEntry => ({ name, mode: 0o644, content: Buffer.from('x') });
const header = (type: string, ...records: string[]): TarEntry => ({
  name: 'header',
  mode: 0o644,
  type,
  content: Buffer.from(records.map(paxRecord).join('')),
});
/** `LENGTH KEY=VALUE` and a line break; the length counts itself. */
const paxRecord = (text: string): string => {
  const length =
    [2, 3]
      .map((digits) => text.length + digits + 2)
      .find((sum, index) => String(sum).length === index + 2) ?? 0;
  return `${length} ${text}\n`;
};

test.each<[string, TarEntry[], string]>([
  [
    'hidden behind the value of another pax record',
    [header('x', 'path=../../evil', 'comment=one\n11 path=ok'), file('ok')],
    'outside of its place',
  ],
  [
    'in a pax header for all that follow',
    [header('g', 'path=../../evil'), file('ok')],
    'it is no plain tar archive',
  ],
  [
    'by another size than its header says',
    [header('x', 'size=0'), file('ok')],
    'it is no plain tar archive',
  ],
  [
    'in a pax header whose lengths do not add up',
    [
      { name: 'header', mode: 0o644, type: 'x', content: Buffer.from('99 path=../evil\n') },
      file('ok'),
    ],
    'it is no plain tar archive',
  ],
  [
    'through a hard link to a place of the device',
    [{ name: 'hard', mode: 0o644, type: '1', target: '/etc/shadow' }],
    'outside of its place',
  ],
  [
    'through a hard link behind a symbolic one',
    [
      { name: 'etc', mode: 0o777, target: '/etc' },
      { name: 'hard', mode: 0o644, type: '1', target: 'etc/shadow' },
    ],
    'outside of its place',
  ],
])('a way upwards %s is seen', async (_, entries, why) => {
  await expect(inspectIpk(await writeData(entries), MIB)).rejects.toThrow(why);
});

test('a hard link within the package is no way out of it', async () => {
  const ipk = await writeData([
    file('./usr/bin/one'),
    { name: './usr/bin/two', mode: 0o644, type: '1', target: './usr/bin/one' },
  ]);

  await expect(inspectIpk(ipk, MIB)).rejects.toThrow('it has no debian-binary');
});

test('archives made by tar(1) are read in each of its forms', async () => {
  const inside = `${'a'.repeat(60)}/${'b'.repeat(60)}`;
  await mkdir(join(folder, inside), { recursive: true });
  await writeFile(join(folder, 'control'), 'Package: hello\nVersion: 1\n');
  await writeFile(join(folder, 'debian-binary'), '2.0\n');
  await symlink('/var', join(folder, inside, 'link'));
  const pack = (target: string, format: string, ...names: readonly string[]) =>
    command('tar', ['-C', folder, `--format=${format}`, '-zcf', join(folder, target), ...names]);
  await pack('control.tar.gz', 'gnu', './control');
  for (const format of ['gnu', 'pax', 'ustar', 'v7']) {
    // v7 has no names so long.
    if (format !== 'v7') await pack('data.tar.gz', format, inside);
    await pack('a.ipk', format, './debian-binary', './control.tar.gz', './data.tar.gz');
    expect(await inspectIpk(join(folder, 'a.ipk'), MIB)).toEqual({
      name: 'hello',
      version: '1',
      depends: [],
    });
  }
});

/** A package file with these control archives, each of control files. */
async function writeControls(...archives: readonly string[][]): Promise<string> {
  const member = (name: string, content: Buffer): TarEntry => ({ name, mode: 0o644, content });
  const controls = archives.map((texts) => {
    const files = texts.map((text) => member('./control', Buffer.from(text)));
    return member('./control.tar.gz', gzipSync(createTar(files)));
  });
  const head = member('./debian-binary', Buffer.from('2.0\n'));
  const data = member('./data.tar.gz', gzipSync(createTar([])));
  const ipk = join(folder, 'a.ipk');
  await writeFile(ipk, gzipSync(createTar([head, ...controls, data])));
  return ipk;
}

test('a package is what opkg takes it for, whatever stands behind that', async () => {
  const [one, other] = ['Package: one\nVersion: 1\n', 'Package: other\nVersion: 2\n'];

  const found = await inspectIpk(await writeControls([`${one}\n${other}`]), MIB);
  expect(found).toMatchObject({ name: 'one', version: '1' });
  await expect(inspectIpk(await writeControls([one], [other]), MIB)).rejects.toThrow(
    'it has control.tar.gz twice',
  );
  await expect(inspectIpk(await writeControls([one, other]), MIB)).rejects.toThrow(
    'it has control twice',
  );
});

test.each([
  ['a line of blanks', 'Package: one\nVersion: 1\n \t\r\nPackage: other\n'],
  ['one in its description', 'Package: one\nVersion: 1\nDescription: a\n \nPackage: other\n'],
  ['a zero byte', 'Package: one\nVersion: 1\n\0\nPackage: other\n'],
])('a control file ends for opkg at %s', async (_, text) => {
  expect(await inspectIpk(await writeControls([text]), MIB)).toMatchObject({ name: 'one' });
});

test.each([
  ['a name without a colon', 'Package: one\nVersion: 1\nPackages other\n'],
  ['another name', 'Package: one\nVersion: 1\nPackage: other\n'],
  ['another one below files', 'Package: one\nVersion: 1\nConffiles:\n \nPackage: other\n'],
  ['another one below no blank', 'Package: one\nVersion: 1\n\u00a0\nPackage: other\n'],
  ['another version', 'Package: one\nVersion: 1\nVersion-2\n'],
])('a package that opkg would take for another is refused: with %s', async (_, text) => {
  await expect(inspectIpk(await writeControls([text]), MIB)).rejects.toThrow(
    /it has (?:Package|Version) twice$/,
  );
});
