import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { errors, lines, startDevice, startUpdatedDevice } from './start-device.ts';

const ONE_COMMAND = 'opkg must have one sub-command argument\n';
const USAGE = 'usage: opkg [options...] sub-command [arguments...]\n';

test.each([
  [[], ONE_COMMAND],
  [['frobnicate'], 'opkg: unknown sub-command frobnicate\n'],
  [['install', '--bogus', 'virt'], `opkg: unrecognized option '--bogus'\n${ONE_COMMAND}`],
  [['-x'], `opkg: unrecognized option '-x'\n${ONE_COMMAND}`],
  [['list-installed', '-Ax'], `opkg: invalid option -- 'x'\n${ONE_COMMAND}`],
  [['list-installed', '--cache'], `opkg: option '--cache' requires an argument\n${ONE_COMMAND}`],
  [['list-installed', '-f'], `opkg: option requires an argument -- 'f'\n${ONE_COMMAND}`],
  [['--size=3', 'list'], `opkg: option '--size' doesn't allow an argument\n${ONE_COMMAND}`],
  [
    ['-no', 'list'],
    `opkg: option '-no' is ambiguous; possibilities: '-no-check-certificate' '-no_check_certificate' '-noaction' '-nodeps' '-nocase'\n${ONE_COMMAND}`,
  ],
  [['install'], "opkg: the ``install'' command requires at least one argument\n"],
])('%j is answered with the usage and exit code 1', async (words, complaint) => {
  const { opkg } = await startDevice();

  const outcome = await opkg(...words);

  expect(outcome).toMatchObject({ code: 1, stderr: complaint });
  expect(outcome.stdout.startsWith(USAGE)).toBe(true);
});

test('a name that begins with a dash is an option, wherever it stands', async () => {
  const { opkg, root } = await startUpdatedDevice();

  for (const word of ['--version', '-version', '-versi', '-v']) {
    expect((await opkg('install', word)).stdout).toMatch(/^opkg version 38eccbb1/);
  }
  expect((await opkg('install', 'virt', '-noact')).stdout).not.toContain('Configuring');
  expect((await opkg('install', 'virt', `-o${root}/tmp`)).stderr).toBe(
    errors(
      `opkg_conf_load: Could not create lock file ${root}/tmp//var/lock/opkg.lock: No such file or directory.`,
    ),
  );
});

test('-- ends the options', async () => {
  const { opkg } = await startUpdatedDevice();

  expect((await opkg('install', '--', '-versi')).stdout).toBe(lines("Unknown package '-versi'."));
  expect((await opkg('--', 'install', 'virt')).code).toBe(0);
  expect((await opkg('remove', '--', 'virt')).stdout).toBe(
    lines('Removing package virt from root...'),
  );
});

test('-f loads another configuration before the others', async () => {
  const { feed, opkg, root } = await startDevice();
  const path = join(root, 'tmp/other.conf');
  await writeFile(path, `src/gz other ${feed.url}\n`);

  expect((await opkg('update', `-f${path}`)).stdout.match(/lists\/\w+/g)).toEqual([
    'lists/other',
    'lists/lab',
  ]);
  expect(await opkg('update', '-f', '/nonexistent.conf')).toEqual({
    code: 255,
    stdout: '',
    stderr: errors("opkg_conf_load: Couldn't stat /nonexistent.conf: No such file or directory."),
  });
});

test('-l chooses the folder for lists where no lists_dir line does', async () => {
  const { opkg, read, root } = await startDevice();
  await opkg('-l', '/tmp/lists', 'update');
  expect(await read('var/opkg-lists/lab')).toBeDefined();

  await writeFile(join(root, 'etc/opkg/device.conf'), 'dest root /\n');
  await opkg('-l', '/tmp/lists', 'update');
  expect(await read('tmp/lists/lab')).toBeDefined();
});

test('-t chooses the folder for temporary files, which has to be there', async () => {
  const { opkg, root } = await startUpdatedDevice();

  expect((await opkg('--tmp-dir', join(root, 'tmp'), 'install', 'virt')).code).toBe(0);
  const refusal = await opkg('-t', join(root, 'nowhere'), 'list-installed');
  expect(refusal).toMatchObject({ code: 255, stdout: '' });
  expect(refusal.stderr).toMatch(
    /^Collected errors:\n \* opkg_conf_load: Creating temp dir \S+\/nowhere\/opkg-\w{6} failed: No such file or directory\.\n$/,
  );
});

test('--add-arch takes the place of the defaults, not of the configured ones', async () => {
  const { opkg } = await startDevice();

  expect((await opkg('--add-arch', 'mips_24kc:5', 'print-architecture')).stdout).toBe(
    lines('arch mips_24kc 5', 'arch all 1', 'arch noarch 1', 'arch x86_64 10'),
  );
});

test('lines that cannot be understood are told of and left out', async () => {
  const { opkg, root } = await startDevice();
  const path = join(root, 'etc/opkg/zz.conf');
  await writeFile(
    path,
    '# a comment\nnonsense a b\nsrc/gz lab again\narch mips 3 and more\noption nonsense 1\n',
  );

  expect(await opkg('list-installed')).toEqual({
    code: 0,
    stdout: lines('libc - 1.2.3-4'),
    stderr: errors(
      `opkg_conf_parse_file: ${path}:2: Ignoring invalid line: \`nonsense a b'`,
      'opkg_conf_parse_file: Duplicate src declaration (lab again). Skipping.',
      `opkg_conf_parse_file: ${path}:4: Ignoring config line with trailing garbage: \`arch mips 3 and more'`,
      'opkg_conf_set_option: Unrecognized option: nonsense=1',
    ),
  });
});

test('-V0 leaves only the errors', async () => {
  const { opkg } = await startUpdatedDevice();

  expect(await opkg('-V0', 'install', 'virt', 'nosuch')).toEqual({
    code: 255,
    stdout: '',
    stderr: errors('opkg_install_cmd: Cannot install package nosuch.'),
  });
});
