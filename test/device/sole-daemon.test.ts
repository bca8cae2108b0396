import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';

import { COPY_NAMES } from '../../src/package-management/opkg/database/status-backup.ts';
import { launchDaemon } from './daemon-process.ts';
import { startDaemon, type TestDaemon } from './daemon.ts';
import { createDevice, type Device } from './device.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ANOTHER_USER, asAnother, canBeAnother } from '../support/another-user.ts';
import { send } from '../support/raw-request.ts';
import { bundledProgram } from '../support/bundled-program.ts';

const CLAIM = await bundledProgram(join(import.meta.dirname, 'claim-command.ts'));

let device: Device;
let socketPath: string;
const claims: ChildProcessWithoutNullStreams[] = [];

beforeAll(async () => {
  device = await createDevice();
  socketPath = join(device.root, 'tmp/depotd.sock');
});
afterAll(() => device.close());

afterEach(() => {
  for (const claim of claims.splice(0)) claim.kill('SIGKILL');
});

/** It is closed with the test. */
async function start(...set: string[]): Promise<TestDaemon> {
  const daemon = await startDaemon(device, { set });
  onTestFinished(() => daemon.close());
  return daemon;
}

test('a second daemon on the same device does not start, and the first loses nothing by it', async () => {
  const daemon = await start();
  await expect(launchDaemon(device, {}, [])).rejects.toThrow(
    `cannot start: process ${daemon.pid} works with the same main.state_dir`,
  );

  const task = await daemon.submit('update');
  await daemon.finished(task);
  await daemon.kill('SIGKILL');
  await daemon.restart();

  expect(await daemon.status(task)).toMatchObject({ state: 'done' });
});

test('what a killed daemon left of records that it was writing goes, and nothing else does', async () => {
  const state = join(device.root, 'etc/depotd');
  const daemon = await start();
  await daemon.kill('SIGKILL');
  const at = (name: string): string => join(state, name);
  await writeFile(at('device-id.json.123.new'), '{"uid', { mode: 0o600 });
  await writeFile(at('password.4194303.new'), '', { mode: 0o600 });
  const below = [`fleet/actions/${'0a'.repeat(32)}.json`, 'apk/before/scripts.tar.gz'];
  for (const name of [...below, 'apk/packages/0.apk', 'self-upgrade/watch.sh']) {
    await mkdir(dirname(at(name)), { recursive: true, mode: 0o700 });
    await writeFile(at(`${name}.77.new`), '', { mode: 0o600 });
  }
  const elsewhere = join(await temporaryFolder(), 'kept.json.5.new');
  await writeFile(elsewhere, '', { mode: 0o600 });
  await symlink(dirname(elsewhere), at('elsewhere'));
  for (const name of COPY_NAMES) await writeFile(at(`${name}.5.new`), '', { mode: 0o600 });
  const kept = [
    'notes.txt.5.new',
    'read-by-all.json.5.new',
    'folder.json.5.new',
    'link.json.5.new',
  ];
  await writeFile(at('notes.txt.5.new'), '', { mode: 0o600 });
  await writeFile(at('read-by-all.json.5.new'), '', { mode: 0o644 });
  await mkdir(at('folder.json.5.new'), { mode: 0o700 });
  await symlink(at('notes.txt.5.new'), at('link.json.5.new'));
  if (process.getuid?.() === 0) {
    kept.push('of-another.json.5.new');
    await writeFile(at('of-another.json.5.new'), '', { mode: 0o600 });
    await chown(at('of-another.json.5.new'), ANOTHER_USER, ANOTHER_USER);
  }

  await daemon.restart();

  expect(await readdir(dirname(elsewhere))).toHaveLength(1);
  await rm(at('elsewhere'));
  const left = (await readdir(state, { recursive: true })).filter((name) => name.endsWith('.new'));
  expect(left.sort()).toEqual(kept.sort());
  for (const name of left) await rm(at(name), { recursive: true });
});

test('a daemon that is started before the last one has ended waits for it, and keeps its socket', async () => {
  const daemon = await start(`main.listen=unix:${socketPath}`);
  await expect
    .poll(() =>
      stat(socketPath).then(
        (entry) => entry.isSocket(),
        () => false,
      ),
    )
    .toBe(true);
  const unfinished = request({
    socketPath,
    method: 'POST',
    path: `${daemon.base}/admin/store/upload`,
    headers: {
      Host: 'localhost',
      'Content-Type': 'multipart/form-data; boundary=x',
      'Content-Length': 1000,
    },
  });
  unfinished.on('error', () => undefined).write('--x\r\n');
  const [socket] = (await once(unfinished, 'socket')) as [Socket];
  if (socket.connecting) await once(socket, 'connect');

  const ended = daemon.kill('SIGTERM');
  const next = await launchDaemon(device, { set: [`main.listen=unix:${socketPath}`] }, []);

  expect(await ended).toEqual({ code: 0, signal: null });
  await expect
    .poll(() =>
      send('http://localhost/healthz', { socketPath }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  await next.kill('SIGTERM');
});

test('of two daemons that are started in one moment one has the state, and the other when that is killed', async () => {
  const folder = join(device.root, 'state');
  for (let count = 0; count < 8; count += 1) {
    const pair = [startClaim(folder), startClaim(folder)] as const;
    await Promise.all(pair.map(({ stdout }) => once(stdout, 'data')));
    const answers = pair.map(({ stdout }) => once(stdout, 'data'));

    for (const { stdin } of pair) stdin.write('go\n');

    const winner = await Promise.race(answers.map((answer, index) => answer.then(() => index)));
    const [first, second] = winner === 0 ? pair : [pair[1], pair[0]];
    expect(String(await answers[winner])).toBe('claimed\n');
    // It would have claimed by now if nothing kept it out.
    const isRefused = Promise.race([answers[1 - winner], delay(100, 'kept out')]);
    expect(await isRefused).toBe('kept out');
    first.kill('SIGKILL');
    expect(String(await answers[1 - winner])).toBe('claimed\n');
    second.kill('SIGKILL');
  }
}, 120_000);

test('a daemon in a process namespace of its own keeps others out, too', async () => {
  const folder = join(device.root, 'state');
  const inside = startClaim(folder, 'unshare', '--pid', '--fork', '--kill-child', '--mount-proc');
  await once(inside.stdout, 'data');
  inside.stdin.write('go\n');
  expect(String(await once(inside.stdout, 'data'))).toBe('claimed\n');

  const outside = startClaim(folder);
  await once(outside.stdout, 'data');
  outside.stdin.write('go\n');

  expect(String(await once(outside.stdout, 'data'))).toContain(
    'works with the same main.state_dir',
  );
  inside.kill('SIGKILL');
});

test('an empty state folder that others can open is closed to them', async () => {
  const folder = await madeByHand();
  await chmod(folder, 0o755);

  await start('main.state_dir=/made-by-hand');

  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test.for([
  ['is empty', []],
  ['has files of its owner', ['fleet-token']],
] as const)(
  'another user who locked a state folder that was made by hand, and %s, keeps no daemon out',
  { skip: !canBeAnother },
  async ([, files]) => {
    const folder = await madeByHand();
    for (const name of files) await writeFile(join(folder, name), 'secret', { mode: 0o600 });
    for (const path of [dirname(device.root), device.root, folder]) await chmod(path, 0o755);
    const other = spawn('flock', ['-x', folder, 'sh', '-c', 'echo locked; exec cat'], {
      uid: ANOTHER_USER,
      gid: ANOTHER_USER,
    });
    claims.push(other);
    expect(String(await once(other.stdout, 'data'))).toBe('locked\n');

    const started = await start('main.state_dir=/made-by-hand');

    const tryToLock = `flock -n made-by-hand/daemon.lock true && echo locked || echo kept out`;
    expect(asAnother(tryToLock, device.root)).toBe('kept out\n');
    expect((await stat(join(folder, 'daemon.lock'))).mode & 0o777).toBe(0o600);
    await expect(
      launchDaemon(device, { set: ['main.state_dir=/made-by-hand'] }, []),
    ).rejects.toThrow(`process ${started.pid} works with the same main.state_dir`);
  },
);

test('a lock file that others could open makes way for one that they cannot', async () => {
  const file = join(device.root, 'etc/depotd/daemon.lock');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '');
  await chmod(file, 0o644);
  const held = spawn('flock', ['-x', file, 'sh', '-c', 'echo locked; exec cat']);
  claims.push(held);
  expect(String(await once(held.stdout, 'data'))).toBe('locked\n');

  await start();

  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a state folder with files of others stays open to them, and the log says so', async () => {
  const folder = join(device.root, 'shared');
  await mkdir(folder);
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'of-somebody'), '');

  const other = await start('main.state_dir=/shared');

  expect(other.log.join()).toContain('other users can open the state folder');
  expect((await stat(folder)).mode & 0o777).toBe(0o755);
});

test('a file that is no socket is not taken for a stale one', async () => {
  const path = join(device.root, 'tmp/precious');
  await writeFile(path, 'precious');

  await expect(launchDaemon(device, { set: [`main.listen=unix:${path}`] }, [])).rejects.toThrow(
    'cannot listen on unix:',
  );

  expect(await readFile(path, 'utf8')).toBe('precious');
});

/** A state folder that is empty. */
async function madeByHand(): Promise<string> {
  const folder = join(device.root, 'made-by-hand');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  return folder;
}

function startClaim(folder: string, ...before: string[]): ChildProcessWithoutNullStreams {
  const words = ['node', CLAIM, folder, before.length === 0 ? '5000' : '1000'];
  const [program, ...args] = [...before, ...words, process.env.PATH ?? ''] as [string];
  const child = spawn(program, args);
  claims.push(child);
  return child;
}
