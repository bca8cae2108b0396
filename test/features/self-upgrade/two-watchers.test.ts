import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { startCommand } from '../../device/command.ts';
import { mountedFolder } from '../packages/no-room.ts';

const WATCHER = join(import.meta.dirname, '../../../src/features/self-upgrade/watch.sh');

/** Begins an upgrade that lasts a while, and says so. */
const MANAGER = `
read_manager_settings() { :; }
upgrade() { echo begun >>"$LOG"; sleep 1; }
mend_database() { :; }
version() { echo "$old"; }
is_whole() { true; }
`;

test.each(['as it is here', 'of busybox'])(
  'of two watchers of an upgrade one waits, with the grep %s',
  async (which) => {
    const directory = await mkdtemp(join(tmpdir(), 'depotd-watchers-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const [folder, bin, log] = ['watch', 'bin', 'log'].map((name) => join(directory, name));
    for (const path of [folder, bin]) await mkdir(String(path));
    if (which === 'of busybox') await symlink('/bin/busybox', `${bin}/grep`);
    await copyFile(WATCHER, `${folder}/watch.sh`);
    await writeFile(`${folder}/manager.sh`, MANAGER);
    await writeFile(`${folder}/settings`, 'depotd\n1.0\n20\n0.1\n/bin/true\naddress\n\n');
    await writeFile(`${folder}/pending`, '');
    const env = { PATH: [bin, process.env['PATH']].join(delimiter), LOG: log };

    const first = startCommand(['sh', `${folder}/watch.sh`, 'now'], { env });
    await expect.poll(() => readFile(String(log), 'utf8').catch(() => '')).toBe('begun\n');
    const second = startCommand(['sh', `${folder}/watch.sh`, 'now'], { env });
    await delay(700);

    expect(await readFile(String(log), 'utf8')).toBe('begun\n');
    expect(await first.exit).toBe(3);
    expect(await second.exit).toBe(0);
    expect(await readFile(String(log), 'utf8')).toBe('begun\n');
  },
);

test('a watcher after a power cut does not wait for itself, though it has the number of the one before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-watchers-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await copyFile(WATCHER, `${folder}/watch.sh`);
  await writeFile(`${folder}/manager.sh`, MANAGER);
  await writeFile(`${folder}/settings`, 'depotd\n1.0\n20\n0.1\n/bin/true\naddress\n\n');
  await writeFile(`${folder}/pending`, '');
  const text = `ln -s $$ ${folder}/watcher; exec sh ${folder}/watch.sh boot`;

  const watcher = startCommand(['sh', '-c', text], { env: { PATH: process.env['PATH'] ?? '' } });
  onTestFinished(() => watcher.signal('SIGKILL'));

  expect(await watcher.exit).toBe(3);
  expect(existsSync(folder)).toBe(false);
}, 20_000);

test.each(['a kept package', 'nothing'])(
  'a watcher that comes when all is over does nothing again, and leaves %s',
  async (left) => {
    const directory = await mkdtemp(join(tmpdir(), 'depotd-watchers-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const [folder, log] = [join(directory, 'watch'), join(directory, 'log')];
    await mkdir(folder);
    const isKept = left === 'a kept package';
    if (isKept) {
      await writeFile(`${folder}/manager.sh`, MANAGER);
      await writeFile(`${folder}/settings`, 'depotd\n1.0\n20\n0.1\n/bin/true\naddress\n\n');
    }
    // Of a folder that is being removed a shell still has its text open.
    const text = await readFile(WATCHER, 'utf8');
    const watcher = startCommand(['sh', '-c', text, `${folder}/watch.sh`, 'now'], {
      env: { PATH: process.env['PATH'] ?? '', LOG: log },
    });

    expect(await watcher.exit).toBe(0);
    expect(existsSync(log)).toBe(false);
    expect(existsSync(folder)).toBe(isKept);
    expect(existsSync(`${folder}/watcher`)).toBe(false);
  },
);

test.skipIf(process.getuid?.() !== 0)(
  'a watcher whose disk is full comes to its end, and nobody begins beside it meanwhile',
  async () => {
    const folder = await mountedFolder(1);
    const log = join(await mkdtemp(join(tmpdir(), 'depotd-watchers-')), 'log');
    onTestFinished(() => rm(dirname(log), { recursive: true }));
    await copyFile(WATCHER, `${folder}/watch.sh`);
    await writeFile(`${folder}/manager.sh`, MANAGER);
    await writeFile(`${folder}/settings`, 'depotd\n1.0\n20\n0.1\n/bin/true\naddress\n\n');
    await writeFile(`${folder}/pending`, '');
    await writeFile(`${folder}/filler`, Buffer.alloc(2 * 1024 ** 2)).catch(() => undefined);
    const env = { PATH: process.env['PATH'] ?? '', LOG: log };

    const first = startCommand(['sh', `${folder}/watch.sh`, 'now'], { env });
    onTestFinished(() => first.signal('SIGKILL'));
    await expect.poll(() => readFile(log, 'utf8').catch(() => '')).toBe('begun\n');
    const second = startCommand(['sh', `${folder}/watch.sh`, 'now'], { env });

    expect(await first.exit).toBe(3);
    expect(await second.exit).toBe(0);
    expect(await readFile(log, 'utf8')).toBe('begun\n');
  },
);

test('a watcher where no link can be made comes to its end, if a little later', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'depotd-watchers-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const [folder, bin] = [join(directory, 'watch'), join(directory, 'bin')];
  for (const path of [folder, bin]) await mkdir(path);
  await symlink('/bin/false', `${bin}/ln`);
  await symlink('/bin/true', `${bin}/sleep`);
  await copyFile(WATCHER, `${folder}/watch.sh`);
  await writeFile(`${folder}/manager.sh`, MANAGER);
  await writeFile(`${folder}/settings`, 'depotd\n1.0\n20\n0.1\n/bin/true\naddress\n\n');
  await writeFile(`${folder}/pending`, '');
  const log = join(directory, 'log');
  const env = { PATH: [bin, process.env['PATH']].join(delimiter), LOG: log };

  const watcher = startCommand(['sh', `${folder}/watch.sh`, 'now'], { env });
  onTestFinished(() => watcher.signal('SIGKILL'));

  expect(await watcher.exit).toBe(3);
  expect(await readFile(log, 'utf8')).toBe('begun\n');
}, 20_000);
