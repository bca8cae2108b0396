import { createHash, createVerify } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { expect, onTestFinished, test } from 'vitest';

import { apkFeedPackages } from './apk-device.ts';
import { createApkFeedFiles, INDEX_NAME, publicKey } from './apk-index.ts';
import { createApk, type Apk } from './apk.ts';
import { runCommand } from '../command.ts';

test('the same source gives the same bytes', () => {
  const [first, second] = [1, 2].map(() =>
    apkFeedPackages(1).map((source) => createApk(source).identity),
  );

  expect(first).toEqual(second);
});

test('a package holds what is known of it, then the files, each with its checksum', async () => {
  const tar = await archive(findApk('demo-app').bytes);

  expect(await tar('-tz')).toEqual([
    '.PKGINFO',
    '.post-install',
    '.post-upgrade',
    '.pre-deinstall',
    '.post-deinstall',
    'etc/',
    'etc/config/',
    'etc/config/demo-app',
    'etc/init.d/',
    'etc/init.d/demo-app',
    'lib/',
    'lib/apk/',
    'lib/apk/packages/',
    'lib/apk/packages/demo-app.conffiles',
    'lib/apk/packages/demo-app.conffiles_static',
    'lib/apk/packages/demo-app.list',
    'usr/',
    'usr/bin/',
    'usr/bin/demo-app',
  ]);
  expect(await tar('-xzO', '.PKGINFO')).toEqual(
    expect.arrayContaining(['pkgname = demo-app', 'pkgver = 1.0-r1', 'depend = libdemo']),
  );
  const program = await tar('-xzO', 'usr/bin/demo-app');
  const checksum = createHash('sha1')
    .update(`${program.join('\n')}\n`)
    .digest('hex');
  expect(dataOf(findApk('demo-app')).toString('latin1')).toContain(
    `APK-TOOLS.checksum.SHA1=${checksum}\n`,
  );
});

test('the identity is the checksum of the first half, which vouches for the second', async () => {
  const { bytes, identity } = findApk('demo-app');
  const start = secondStart(bytes);
  const [control, data] = [bytes.subarray(0, start), bytes.subarray(start)];

  expect(identity).toBe(`Q1${createHash('sha1').update(control).digest('base64')}`);
  const tar = await archive(control);
  expect(await tar('-xzO', '.PKGINFO')).toContain(
    `datahash = ${createHash('sha256').update(data).digest('hex')}`,
  );
});

test("the index is signed with the key that the device trusts, and by others' if wanted", () => {
  expect(isSigned(createApkFeedFiles(apkFeedPackages(1)).get(INDEX_NAME))).toBe(true);
  expect(isSigned(createApkFeedFiles([], 'other').get(INDEX_NAME))).toBe(false);
});

/** Two archives in a row: the signature, and what it is of. */
function isSigned(index: Buffer | undefined): boolean {
  if (index === undefined) throw new Error('cannot find the index');
  const start = secondStart(index);
  const signature = gunzipSync(index.subarray(0, start)).subarray(512, 512 + 128);
  return createVerify('sha256').update(index.subarray(start)).verify(publicKey(), signature);
}

function dataOf({ bytes }: Apk): Buffer {
  return gunzipSync(bytes.subarray(secondStart(bytes)));
}

/** Where the second of two gzip streams begins. */
function secondStart(bytes: Buffer): number {
  return bytes.indexOf(Buffer.from([0x1f, 0x8b, 0x08]), 1);
}

function findApk(name: string): Apk {
  const source = apkFeedPackages(1).find((other) => other.name === name);
  if (source === undefined) throw new Error(`cannot find ${name} in the feed`);
  return createApk(source);
}

/** Runs tar on an archive; gives the lines of its output. */
async function archive(bytes: Buffer): Promise<(...args: string[]) => Promise<string[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-apk-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'archive');
  await writeFile(file, bytes);
  return async (...args) => {
    const { stdout } = await runCommand(['tar', '-f', file, ...args]);
    return stdout.trimEnd().split('\n');
  };
}
