import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import type { Device } from '../device.ts';
import { errors, lines, startDevice, startUpdatedDevice } from './start-device.ts';

const IGNORED = 'Package wrongarch version 1.0-1 has no valid architecture, ignoring.';

test('update keeps the packed index as it came', async () => {
  const device = await startDevice();

  const update = await device.opkg('update');

  expect(update).toEqual({
    code: 0,
    stdout: lines(
      `Downloading ${device.feed.url}/Packages.gz`,
      `Updated list of available packages in ${device.root}//var/opkg-lists/lab`,
    ),
    stderr: '',
  });
  const list = await readFile(join(device.root, 'var/opkg-lists/lab'));
  expect(gunzipSync(list).toString()).toContain('Package: demo-app\n');
  expect(device.feed.requests()).toBe(1);
});

test('the exit code of update is the number of feeds that failed', async () => {
  const device = await startDevice();
  await writeFile(
    join(device.root, 'etc/opkg/other.conf'),
    `src/gz nope ${device.feed.url}/nope\nsrc/gz refused http://127.0.0.1:1\n`,
  );

  const update = await device.opkg('update');

  expect(update.code).toBe(2);
  expect(update.stdout).toContain(
    lines(
      `Downloading ${device.feed.url}/nope/Packages.gz`,
      `*** Failed to download the package list from ${device.feed.url}/nope/Packages.gz`,
      '',
      'Downloading http://127.0.0.1:1/Packages.gz',
      '*** Failed to download the package list from http://127.0.0.1:1/Packages.gz',
      '',
    ),
  );
  expect(update.stderr).toBe(
    errors(
      `opkg_download: Failed to download ${device.feed.url}/nope/Packages.gz, wget returned 8.`,
      'opkg_download: Failed to download http://127.0.0.1:1/Packages.gz, wget returned 4.',
      'opkg_download: Check your network settings and connectivity.\n',
    ),
  );
  expect(await listNames(device)).toEqual(['lab']);
});

test('a list that cannot be fetched stays as it was', async () => {
  const device = await startUpdatedDevice();
  await device.feed.refuse();

  expect((await device.opkg('update')).code).toBe(1);

  expect((await device.opkg('list', 'demo-app')).stdout).toContain('demo-app - 1.0-1');
});

test('a login page in place of the index is taken for an empty list', async () => {
  const device = await startDevice();
  device.feed.misbehave('Packages.gz', 'html');

  expect((await device.opkg('update')).code).toBe(0);

  expect(await device.read('var/opkg-lists/lab')).toBe('<html>login</html>\n');
  expect(await device.opkg('list')).toEqual({
    code: 0,
    stdout: lines('libc - 1.2.3-4'),
    stderr: '',
  });
});

test('of a truncated index the packages that came whole are listed', async () => {
  const device = await startDevice();
  device.feed.misbehave('Packages.gz', 'truncated');

  expect((await device.opkg('update')).code).toBe(0);

  const { stdout } = await device.opkg('list');
  expect(stdout).toContain('libdemo - 1.0-1');
  expect(stdout).not.toContain('tiny-40');
});

test('a plain feed in a folder is copied', async () => {
  const device = await startDevice();
  const folder = join(device.root, 'tmp/feed');
  await device.feed.writeTo(folder);
  await writeFile(join(device.root, 'etc/opkg/distfeeds.conf'), `src local file:${folder}\n`);

  expect((await device.opkg('update')).stdout).toBe(
    lines(
      `Downloading file:${folder}/Packages`,
      `Updated list of available packages in ${device.root}//var/opkg-lists/local`,
    ),
  );

  expect(await device.read('var/opkg-lists/local')).toBe(await device.read('tmp/feed/Packages'));
  expect((await device.opkg('install', 'tiny-01')).code).toBe(0);
});

test('a signature that fits is kept beside the list', async () => {
  const device = await startDevice({ isSigned: true });

  const update = await device.opkg('update');

  expect(update.stdout).toContain(
    lines(`Downloading ${device.feed.url}/Packages.sig`, 'Signature check passed.'),
  );
  expect(await listNames(device)).toEqual(['lab', 'lab.sig']);
  expect((await device.opkg('install', 'tiny-01')).code).toBe(0);
});

test('a wrong signature deletes the list and is no failure', async () => {
  const device = await startUpdatedDevice({ isSigned: true });
  device.feed.misbehave('Packages.sig', 'bad-signature');

  const update = await device.opkg('update');

  expect(update).toMatchObject({ code: 0, stderr: '' });
  expect(update.stdout).toContain(lines('Signature check failed.', 'Remove wrong Signature file.'));
  expect(await listNames(device)).toEqual([]);
});

test('a missing signature deletes the list and is a failure', async () => {
  const device = await startUpdatedDevice({ isSigned: true });
  device.feed.misbehave('Packages.sig', 'missing');

  const update = await device.opkg('update');

  expect(update.code).toBe(1);
  expect(update.stdout).toContain(
    lines('Signature file download failed.', 'Remove wrong Signature file.'),
  );
  expect(await listNames(device)).toEqual([]);
});

test('without a lists_dir line the lists lie in usr/lib/opkg/lists', async () => {
  const device = await startDevice();
  await writeFile(join(device.root, 'etc/opkg/device.conf'), 'dest root /\n');

  expect((await device.opkg('update')).stdout).toContain(
    `in ${device.root}//usr/lib/opkg/lists/lab\n`,
  );
});

test('with an offline root only etc/opkg/*.conf is read', async () => {
  const device = await startDevice();
  await writeFile(join(device.root, 'etc/opkg.conf'), 'arch mips_24kc 10\n');
  expect((await device.opkg('print-architecture')).stdout).toBe(
    lines('arch all 1', 'arch noarch 1', 'arch x86_64 10'),
  );

  await rm(join(device.root, 'etc/opkg/distfeeds.conf'));
  expect(await device.opkg('update')).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('list names what the feeds have, sorted, and then what is only installed', async () => {
  const device = await startUpdatedDevice();

  expect((await device.opkg('list', '*demo*')).stdout).toBe(
    lines(
      IGNORED,
      'app-meta-demo - 1.0-1 - app-meta-demo test package',
      'demo-app - 1.0-1 - demo-app test package',
      'libdemo - 1.0-1 - libdemo test package',
    ),
  );
  expect((await device.opkg('list', 'libc')).stdout).toBe(lines(IGNORED, 'libc - 1.2.3-4'));
  expect(await device.opkg('list', 'nosuch')).toEqual({
    code: 0,
    stdout: lines(IGNORED),
    stderr: '',
  });
});

test('list --size puts the size of the file before the description', async () => {
  const device = await startUpdatedDevice();

  expect((await device.opkg('list', '--size', 'demo-app')).stdout).toMatch(
    /^demo-app - 1\.0-1 - \d+ - demo-app test package$/m,
  );
});

test('info tells of a package that is not installed, status and files do not', async () => {
  const device = await startUpdatedDevice();

  expect((await device.opkg('info', 'demo-app')).stdout).toMatch(
    new RegExp(
      `^${IGNORED}\nPackage: demo-app\nVersion: 1.0-1\nDepends: libc, libdemo\nStatus: unknown ok not-installed\nSection: utils\n` +
        'Architecture: all\nSize: \\d+\nFilename: demo-app_1.0-1_all.ipk\nSource: feeds/lab/demo-app\nDescription: demo-app test package\n\n$',
    ),
  );
  expect(await device.opkg('status', 'demo-app')).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await device.opkg('files', 'demo-app')).toEqual({
    code: 0,
    stdout: '',
    stderr: errors('opkg_files_cmd: Package demo-app not installed.'),
  });
});

async function listNames(device: Device): Promise<string[]> {
  return (await readdir(join(device.root, 'var/opkg-lists'))).sort();
}
