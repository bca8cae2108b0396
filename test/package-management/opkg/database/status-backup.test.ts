import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { beforeEach, expect, onTestFinished, test } from 'vitest';

import {
  createStatusCopy,
  type StatusCopy,
} from '../../../../src/package-management/opkg/database/status-backup.ts';

const stanza = (name: string, version = '1.0'): string =>
  `Package: ${name}\nVersion: ${version}\nDepends: libc, libubus, libubox, libjson-c\nStatus: install user installed\nArchitecture: x86_64\nInstalled-Time: 1795348406\n\n`;
const MANY = Array.from({ length: 2000 }, (_, at) => stanza(`package-${at}`)).join('');

let folder: string;
let statusFile: string;
let copy: StatusCopy;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-status-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'state'));
  statusFile = join(folder, 'status');
  copy = createStatusCopy(statusFile, join(folder, 'state'));
});

const copies = (): Promise<string[]> => readdir(join(folder, 'state'));

test('a copy of 2000 packages takes little flash, and comes back byte by byte', async () => {
  await writeFile(statusFile, MANY, { mode: 0o644 });
  await copy.save();
  await writeFile(statusFile, 'Package: pack');

  expect(await copies()).toEqual(['opkg-status.before.gz']);
  const { size } = await stat(join(folder, 'state/opkg-status.before.gz'));
  expect(size).toBeLessThan(MANY.length / 10);
  expect((await copy.read())?.size).toBe(2000);
  expect(await copy.intact()).toBeUndefined();
  await copy.restore();
  expect(await readFile(statusFile, 'utf8')).toBe(MANY);
});

test('a copy that is the same is not written again', async () => {
  await writeFile(statusFile, MANY);
  await copy.save();
  const path = join(folder, 'state/opkg-status.before.gz');
  const { ino } = await stat(path);

  await copy.save();

  expect((await stat(path)).ino).toBe(ino);
});

test('a copy of an older depotd counts until the next one is taken, which replaces it', async () => {
  await writeFile(statusFile, stanza('newer'));
  await copy.save();
  await writeFile(join(folder, 'state/opkg-status.before'), stanza('older'));

  expect([...((await copy.read())?.keys() ?? [])]).toEqual(['older']);
  await copy.save();

  expect(await copies()).not.toContain('opkg-status.before');
  expect([...((await copy.read())?.keys() ?? [])]).toEqual(['newer']);
});

test('a status file that cannot be read is not taken for an empty one', async () => {
  await writeFile(statusFile, stanza('whole'));
  await copy.save();
  await rm(statusFile);
  await mkdir(statusFile);

  await expect(copy.save()).rejects.toThrow('EISDIR');

  expect([...((await copy.read())?.keys() ?? [])]).toEqual(['whole']);
});

test('a copy that is damaged is none, and the status file stays as it is', async () => {
  await writeFile(statusFile, stanza('whole'));
  await writeFile(join(folder, 'state/opkg-status.before.gz'), 'no gzip');

  expect(await copy.read()).toBeUndefined();
  await copy.restore();

  expect(await readFile(statusFile, 'utf8')).toBe(stanza('whole'));
});
