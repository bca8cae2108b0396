import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { runCommand } from '../command.ts';
import {
  lines,
  mustWork,
  startApkDevice,
  startUpdatedApkDevice,
  stateOf,
} from './start-apk-device.ts';

test.each([
  [['frobnicate'], "'frobnicate' is not an apk command. See 'apk --help'."],
  [['add', '--bogus', 'virt'], "command line: unrecognized option 'bogus'"],
  [['add', '-x'], "command line: unrecognized option 'x'"],
  [['add', '--wait'], "command line: option 'wait' expects an argument"],
  [
    ['query', '--format', 'json', '--fields', 'bogus', 'x'],
    "command line: invalid argument for option 'fields': 'bogus'",
  ],
])('%j is a usage error: 1', async (words, complaint) => {
  const { apk } = await startApkDevice();

  expect(await apk(...words)).toEqual({ code: 1, stdout: '', stderr: `ERROR: ${complaint}\n` });
});

test('a blank in a name is no dependency: 99', async () => {
  const { apk } = await startUpdatedApkDevice();

  expect(await apk('add', 'a b')).toEqual({
    code: 99,
    stdout: '',
    stderr: "ERROR: 'a b' is not a valid world dependency, format is name(@tag)([<>~=]version)\n",
  });
});

test('-- ends the options', async () => {
  const device = await startUpdatedApkDevice();

  const add = await device.apk('add', '--', '-x');
  expect(add.code).toBe(1);
  expect(add.stderr).toContain('  -x (no such package):\n');
  await mustWork(device, 'add', '--', 'virt');
});

test('add without names installs what world asks for', async () => {
  const device = await startUpdatedApkDevice();
  await writeFile(
    join(device.root, 'etc/apk/world'),
    lines('base-files', 'busybox', 'libc', 'virt'),
  );

  await mustWork(device, 'add');

  expect((await stateOf(device)).installed).toEqual(['virt-1.0-r1']);
});

test('APK_CONFIG names the file of default options', async () => {
  const device = await startUpdatedApkDevice();
  const path = join(device.root, 'tmp/config');
  await writeFile(path, 'cache-predownload\nbogus\n');

  const add = await runCommand(['apk', '--root', device.root, 'add', 'virt'], {
    env: { ...device.env, APK_CONFIG: path },
  });

  expect(add).toMatchObject({ code: 0, stderr: "WARNING: config: unrecognized option 'bogus'\n" });
  expect(add.stdout).toMatch(/^Downloading 1 packages\.\.\.\n/);
});

test('-q says nothing when all goes well', async () => {
  const device = await startUpdatedApkDevice();

  expect(await mustWork(device, '-q', 'add', 'virt')).toBe('');
});

test('--progress-fd tells how far a change is: bytes and a share for each package', async () => {
  const device = await startUpdatedApkDevice();

  const { stdout } = await runCommand(
    [
      '/bin/sh',
      '-c',
      `apk --root ${device.root} --cache-predownload --progress-fd 3 add virt 3>&1 >/dev/null`,
    ],
    { env: device.env },
  );

  const [, bytes, total] = /^(\d+)\/(\d+) download\n/.exec(stdout) ?? [];
  expect(Number(total)).toBe(Number(bytes) + 65_536);
  expect(stdout).toBe(
    lines(
      `${bytes}/${total} download`,
      `${total}/${total} download`,
      `${bytes}/${total} install`,
      `${total}/${total} install`,
    ),
  );
});

test('commands that write are logged with what they said', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'virt');

  const log = (await device.read('tmp/log/apk.log')) ?? '';

  expect(log).toMatch(
    /\nRunning `.* add virt` at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\napk-tools 3\.0\.5, compiled for .*\n\(1\/1\) Installing virt \(1\.0-r1\)\nOK: .*\n$/,
  );
});
