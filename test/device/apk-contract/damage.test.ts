import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import type { ApkDevice } from '../apk-device/apk-device.ts';
import { lines, mustWork, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

const INSTALLED = 'lib/apk/db/installed';

async function startWithDemo(): Promise<ApkDevice> {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'app-meta-demo');
  return device;
}

test('an empty world is an order to remove the system, and only the plan tells', async () => {
  const device = await startWithDemo();
  await writeFile(join(device.root, 'etc/apk/world'), '');

  expect(await mustWork(device, 'add', '-s', 'virt')).toBe(
    lines(
      '(1/7) Purging app-meta-demo (1.0-r1)',
      '(2/7) Purging demo-app (1.0-r1)',
      '(3/7) Purging libdemo (1.0-r1)',
      '(4/7) Purging base-files (1700~abcdef0)',
      '(5/7) Purging busybox (1.37.0-r6)',
      '(6/7) Purging libc (1.2.5-r5)',
      '(7/7) Installing virt (1.0-r1)',
      'OK: 40 B in 1 packages',
    ),
  );
  await mustWork(device, 'add', 'virt');

  expect([...(await device.database()).keys()]).toEqual(['virt']);
  expect(await device.read('bin/busybox')).toBeUndefined();
});

test.each([
  ['missing', undefined, 'No such file or directory'],
  ['with a line that is no dependency', 'libdemo\n<<<\n', 'dependency format is invalid'],
])('a world that is %s stops every command: 99', async (_, text, reason) => {
  const device = await startWithDemo();
  const path = join(device.root, 'etc/apk/world');
  if (text === undefined) await rm(path);
  else await appendFile(path, text);

  const refusal = {
    code: 99,
    stdout: '',
    stderr: lines(
      `ERROR: Unable to read database: ${reason}`,
      `ERROR: Failed to open apk database: ${reason}`,
    ),
  };
  expect(await device.apk('add', 'virt')).toEqual(refusal);
  expect(await device.apk('list', '-I')).toEqual(refusal);
  const query = ['query', '--format', 'json', '--from', 'repositories', '*'];
  expect(await device.apk(...query)).toEqual(refusal);
});

test('an unknown name in world fails every change until del takes it out', async () => {
  const device = await startUpdatedApkDevice();
  await appendFile(join(device.root, 'etc/apk/world'), 'gone-pkg\n');

  for (const words of [['add', 'virt'], ['upgrade'], ['fix'], ['del', 'virt']]) {
    expect(await device.apk(...words)).toEqual({
      code: 1,
      stdout: '',
      stderr: lines(
        'ERROR: unable to select packages:',
        '  gone-pkg (no such package):',
        '    required by: world[gone-pkg]',
      ),
    });
  }
  await mustWork(device, 'add', '--force-broken-world', 'tiny-01');
  expect(await stateOf(device)).toEqual({
    installed: ['tiny-01-1.0-r1'],
    world: ['gone-pkg', 'tiny-01'],
  });

  await mustWork(device, 'del', 'gone-pkg');
  await mustWork(device, 'add', 'virt');
});

test('a name that stands twice in world does no harm, and stays so', async () => {
  const device = await startUpdatedApkDevice();
  await appendFile(join(device.root, 'etc/apk/world'), 'libc\n');

  await mustWork(device, 'add', 'virt');

  expect(await device.world()).toEqual(['base-files', 'busybox', 'libc', 'libc', 'virt']);
});

test('a database that is cut within a checksum stops every command: 99', async () => {
  const device = await startWithDemo();
  const text = (await device.read(INSTALLED)) ?? '';
  await writeFile(
    join(device.root, INSTALLED),
    text.slice(0, text.indexOf('Z:', text.indexOf('P:demo-app')) + 9),
  );

  for (const words of [
    ['list', '-I'],
    ['add', 'virt'],
  ]) {
    const refusal = await device.apk(...words);
    expect(refusal).toMatchObject({ code: 99, stdout: '' });
    expect(refusal.stderr).toMatch(
      /^ERROR: FDB format error \(line \d+, entry 'Z'\)\nERROR: Unable to read database: v2 database format error\nERROR: Failed to open apk database: v2 database format error\n$/,
    );
  }
});

test('a database that is cut between packages lacks the rest, which is installed again', async () => {
  const device = await startWithDemo();
  const text = (await device.read(INSTALLED)) ?? '';
  await writeFile(
    join(device.root, INSTALLED),
    text.slice(0, text.indexOf('\n\n', text.indexOf('P:busybox')) + 2),
  );

  expect(await mustWork(device, 'add', 'virt')).toMatch(
    /^\(1\/4\) Installing libc \(1\.2\.5-r5\)\n[^]*\(4\/4\) Installing virt /,
  );

  expect([...(await device.database()).keys()]).toEqual([
    'app-meta-demo',
    'base-files',
    'busybox',
    'demo-app',
    'libc',
    'libdemo',
    'virt',
  ]);
});

test.each(['empty', 'missing'])('a database that is %s is an empty system', async (what) => {
  const device = await startWithDemo();
  if (what === 'empty') await writeFile(join(device.root, INSTALLED), '');
  else await rm(join(device.root, INSTALLED));

  expect(await mustWork(device, 'list', '-I')).toBe('');
  expect(await mustWork(device, 'add', '-s', 'virt')).toContain(
    '(1/7) Installing libc (1.2.5-r5)\n',
  );
});

test('scripts that cannot be read stop every command: 99', async () => {
  const device = await startWithDemo();
  await writeFile(join(device.root, 'lib/apk/db/scripts.tar.gz'), 'garbage\n');

  expect(await device.apk('del', 'app-meta-demo')).toEqual({
    code: 99,
    stdout: '',
    stderr: lines(
      'ERROR: Unable to read database: file format is invalid or inconsistent',
      'ERROR: Failed to open apk database: file format is invalid or inconsistent',
    ),
  });
});

test('without a log that can be written nothing works that writes: 99', async () => {
  const device = await startUpdatedApkDevice();
  await rm(join(device.root, 'tmp/log'), { recursive: true });
  await writeFile(join(device.root, 'tmp/log'), '');

  const add = await device.apk('add', 'virt');

  expect(add.code).toBe(99);
  expect(add.stderr).toMatch(/^ERROR: Unable to open log: /);
  expect((await device.apk('list', '-I')).code).toBe(0);
});

test('scripts that lie unpacked are used and stay unpacked', async () => {
  const device = await startWithDemo();
  const packed = join(device.root, 'lib/apk/db/scripts.tar.gz');
  const plain = join(device.root, 'lib/apk/db/scripts.tar');
  await writeFile(plain, gunzipSync(await readFile(packed)));
  await rm(packed);

  await mustWork(device, 'add', 'virt');
  expect(await readdir(join(device.root, 'lib/apk/db'))).toEqual([
    'installed',
    'lock',
    'scripts.tar',
    'triggers',
  ]);
  await writeFile(plain, Buffer.alloc(4096, 'garbage'));
  expect((await device.apk('del', 'virt')).code).toBe(99);
});

test('what world names twice stays after it was removed once', async () => {
  const device = await startWithDemo();
  await mustWork(device, 'add', 'virt');
  const world = join(device.root, 'etc/apk/world');
  await writeFile(world, `${await readFile(world, 'utf8')}virt\n`);

  expect(await mustWork(device, 'del', 'virt')).toContain(
    'World updated, but the following packages are not removed due to:\n  virt: virt\n',
  );
  expect((await device.world()).filter((name) => name === 'virt')).toEqual(['virt']);
});
