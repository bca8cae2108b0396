import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmod, chown, lstat, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { createSavedLogins } from '../src/cli/saved-logins.ts';
import { parseTarget } from '../src/cli/daemon-target.ts';
import { startDaemon, type TestDaemon } from './device/daemon.ts';
import { DAEMON_PROGRAM } from './device/daemon-process.ts';
import type { Device } from './device/device.ts';
import { startLockHolder } from './device/lock-holder.ts';
import { runFile } from './features/uploads/upload-device.ts';
import {
  ANOTHER_USER,
  asAnother,
  canBeAnother,
  snapshotOf,
  withoutProtection,
} from './support/another-user.ts';
import { createOpenDevice, PLANTS } from './support/open-device.ts';

/** From the device's root, planted together: what needs one of them says so, or has another name. */
const NEEDED_LATER = [
  ['tmp/opkg-lists.kept', 'tmp/depotd', 'tmp/lock/opkg.lock'],
  ['tmp/opkg-lists'],
];
/** Without these the daemon does not start. */
const NEEDED_AT_START = ['tmp/log', 'tmp/logs', 'tmp/state', 'tmp/depotd.sock'];

const SAVED = { cookie: 'depotd=secret', key: 'half' };
describe.skipIf(!canBeAnother)('what another user planted', () => {
  let restore: () => void;
  beforeAll(() => {
    restore = withoutProtection();
  });
  afterAll(() => restore());

  describe.each(Object.entries(PLANTS))('%s', (_, plant) => {
    test.each(NEEDED_LATER)('named %s leads no job outside', async (...names) => {
      const on = await createOpenDevice();
      for (const name of names) await on.plant(name, plant);
      const before = await snapshotOf(on.outside);

      await runEverything(on.device);

      expect(await snapshotOf(on.outside)).toEqual(before);
      expect(asAnother('grep -rs -D skip SECRET . || true', join(on.device.root, 'tmp'))).toBe('');
    });

    test('in the place of the record of another destination leads no job outside', async () => {
      const on = await createOpenDevice();
      const record = 'tmp/usr/lib/opkg/status';
      await on.plant('tmp/usr', () => `mkdir -p ${dirname(record)}; ${plant(record)}`);
      const before = await snapshotOf(on.outside);

      await runEverything(on.device);

      expect(await snapshotOf(on.outside)).toEqual(before);
    });

    test.each(NEEDED_AT_START)('named %s keeps the daemon from starting', async (name) => {
      const on = await createOpenDevice();
      await on.plant(name, plant);
      const before = await snapshotOf(on.outside);

      const { code, log } = await startInVain(on.device, name);

      expect(code).toBe(1);
      expect(log).toMatch(
        /cannot (use the folder|write task logs to|listen on) \S*\/root\/(?:tmp|var)\//,
      );
      expect(await snapshotOf(on.outside)).toEqual(before);
    });

    test('where depotctl keeps sessions is not used', async () => {
      const on = await createOpenDevice();
      await on.plant('tmp/depotctl-0', plant);
      const before = await snapshotOf(on.outside);
      process.env.TMPDIR = join(on.device.root, 'tmp');
      onTestFinished(() => {
        delete process.env.TMPDIR;
      });
      const target = parseTarget('http://127.0.0.1:1', '/cgi-bin/panel');
      const logins = createSavedLogins(undefined);

      await expect(logins.save(target, SAVED)).rejects.toThrow('cannot keep the session');
      expect(await logins.load(target)).toBeUndefined();
      await logins.forget(target);

      expect(await snapshotOf(on.outside)).toEqual(before);
    });

    test('is not entered by a removal of the package', async () => {
      const on = await createOpenDevice();
      await on.plant('tmp/depotd', plant);
      const planted = join(on.device.root, 'tmp/depotd');
      const before = [await snapshotOf(on.outside), await lookOf(planted)];

      spawnSync('/bin/sh', ['packaging/openwrt/postrm', 'remove'], {
        env: { ...process.env, IPKG_INSTROOT: on.device.root },
      });

      expect([await snapshotOf(on.outside), await lookOf(planted)]).toEqual(before);
    });
  });

  test('a link in the place of the lock that somebody else gives back is not what opkg empties', async () => {
    const on = await createOpenDevice();
    const daemon = await start(on.device);
    const holder = await startLockHolder(on.device);
    const task = await daemon.submit('update');
    await expect.poll(() => daemon.logOf(task)).toContain('waiting: ');
    const before = await snapshotOf(on.outside);

    // In one step: who waits for the lock would make it anew as soon as it is gone.
    await on.plant('tmp/lock/planted', (name) => `ln -s "$OUTSIDE/file" ${name}`);
    const folder = join(on.device.root, 'tmp/lock');
    await rename(join(folder, 'planted'), join(folder, 'opkg.lock'));

    expect(await daemon.finished(task)).toMatchObject({ state: 'done' });
    expect(await snapshotOf(on.outside)).toEqual(before);
    await holder.release();
  });

  test.each(Object.entries(PLANTS))(
    '%s in the place of a copy of the lists does not keep an update from its end',
    async (_, plant) => {
      const on = await createOpenDevice();
      await on.plant('tmp/opkg-lists.kept', plant);
      const daemon = await start(on.device);
      const before = await readdir(join(on.device.root, 'tmp'));

      expect(await daemon.finished(await daemon.submit('update'))).toMatchObject({ state: 'done' });

      // What the update replaced is kept below a folder of its own, so that it can be undone.
      expect(await readdir(join(on.device.root, 'tmp'))).toEqual(['depotd', ...before].sort());
    },
  );

  test('depotctl of root keeps its session in no folder of the user whom `su` took it from', async () => {
    const on = await createOpenDevice();
    const runtimeDir = join(on.device.root, 'tmp/user');
    asAnother(`mkdir ${runtimeDir}`, on.device.root);
    const target = parseTarget('http://127.0.0.1:1', '/cgi-bin/panel');
    const logins = createSavedLogins(runtimeDir);
    onTestFinished(() => logins.forget(target));

    await logins.save(target, SAVED);

    expect(await readdir(runtimeDir)).toEqual([]);
    expect(await logins.load(target)).toEqual(SAVED);
  });
});

test.skipIf(!canBeAnother)(
  'what another user has as the record of another destination is not installed',
  async () => {
    const on = await createOpenDevice();
    const record = 'tmp/usr/lib/opkg/status';
    const paragraph = 'Package: planted\nVersion: 1\nStatus: install user installed\n\n';
    await on.plant(
      'tmp/usr',
      () =>
        `mkdir -p ${dirname(record)}; printf '${paragraph.replaceAll('\n', String.raw`\n`)}' >${record}`,
    );
    const daemon = await start(on.device);

    const status = await daemon.get('admin/store/status?package=planted');

    expect(await status.json()).toEqual({ installed: false });
    expect((await daemon.get('admin/store/plan?operation=install&package=demo')).status).toBe(200);
    const task = await daemon.finished(await daemon.submit('install', { package: 'demo' }));
    expect(task.error).toContain(`${on.device.root}/tmp/usr belongs to the user ${ANOTHER_USER}`);
  },
);

test.skipIf(!canBeAnother)(
  'a destination on a shared disk serves until what opkg writes there is of another user',
  async () => {
    const { device } = await createOpenDevice();
    const folder = join(device.root, 'mnt/disk/usr/lib/opkg');
    await mkdir(folder, { recursive: true });
    await chmod(join(device.root, 'mnt/disk'), 0o777);
    await writeFile(
      join(folder, 'status'),
      'Package: shared\nVersion: 1\nStatus: install user installed\nArchitecture: all\n\n',
    );
    await writeFile(join(device.root, 'etc/opkg/zz.conf'), 'dest disk /mnt/disk\n');
    const daemon = await start(device);
    const run = async (kind: 'install' | 'remove') =>
      daemon.finished(await daemon.submit(kind, { package: 'demo' }));

    expect(await run('install')).toMatchObject({ state: 'done' });
    const shared = await daemon.get('admin/store/status?package=shared');
    expect(await shared.json()).toMatchObject({ installed: true });

    await chown(join(device.root, 'mnt/disk/usr'), ANOTHER_USER, ANOTHER_USER);
    const { error, remedy } = (await run('remove')) as { error?: string; remedy?: string };
    expect(error).toContain(
      `${join(device.root, 'mnt/disk/usr')} belongs to the user ${ANOTHER_USER}`,
    );
    expect(remedy).toContain('give that folder and those above it to root');
  },
);

async function start(device: Device, ...set: string[]): Promise<TestDaemon> {
  const daemon = await startDaemon(device, { set });
  onTestFinished(() => daemon.close());
  return daemon;
}

/** What writes, from the start to the end. Whether it can is not asked: some of it cannot. */
async function runEverything(device: Device): Promise<void> {
  const forge = createServer((_, response) => {
    response.setHeader('ETag', '"1"').end('answer');
  }).listen(0, '127.0.0.1');
  await once(forge, 'listening');
  onTestFinished(() => {
    forge.close();
  });
  const { port } = forge.address() as AddressInfo;
  const daemon = await start(device, `forge.upstream=http://127.0.0.1:${port}`);
  const form = new FormData();
  const { name, content } = runFile('true');
  form.append('file', new Blob([content]), name);
  const upload = await fetch(`${daemon.url}${daemon.base}/admin/store/upload`, {
    method: 'POST',
    body: form,
  });
  const { task_id: uploaded } = (await upload.json()) as { task_id?: string };
  if (uploaded !== undefined) await daemon.finished(uploaded);
  for (const [operation, params] of [['update'], ['install', { package: 'demo' }]] as const) {
    await daemon.finished(await daemon.submit(operation, params));
  }
  for (let count = 0; count < 2; count += 1) {
    expect((await daemon.get('/api/v1/repos/o/r/raw/x')).status).toBe(200);
  }
  await daemon.restart();
  await daemon.close();
}

async function startInVain(
  { root, env }: Device,
  name: string,
): Promise<{ code: number; log: string }> {
  const settings = [
    `main.root=${root}`,
    'main.auth=none',
    'main.owner_socket=',
    name === 'tmp/depotd.sock' ? `main.listen=unix:${root}/${name}` : 'main.listen=127.0.0.1:0',
    ...(name === 'tmp/logs' ? ['main.log_dir=/tmp/logs'] : []),
    ...(name === 'tmp/state' ? ['main.state_dir=/tmp/state'] : []),
  ];
  const daemon = spawn(
    process.execPath,
    [DAEMON_PROGRAM, '--config', '/dev/null', ...settings.flatMap((each) => ['--set', each])],
    { env, stdio: ['ignore', 'ignore', 'pipe'], timeout: 20_000 },
  );
  const [log, [code]] = await Promise.all([
    text(daemon.stderr),
    once(daemon, 'exit') as Promise<[number]>,
  ]);
  return { code, log };
}

async function lookOf(path: string): Promise<string> {
  const { mode, uid, ino, mtimeMs } = await lstat(path);
  return `${mode} ${uid} ${ino} ${mtimeMs}`;
}
