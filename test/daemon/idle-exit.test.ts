import { access, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { startCommand } from '../device/command.ts';
import { DAEMON_PROGRAM } from '../device/daemon-process.ts';
import { createDevice, type Device } from '../device/device.ts';
import { slowPackage } from '../device/packages/awkward-packages.ts';
import { RELAYS, startUhttpd } from '../packaging/web-server.ts';
import { openEvents } from '../support/event-reader.ts';

/** What a minute lasts here. */
const MINUTE_MS = 500;
/** The same where somebody has to come in time. */
const LONG_MINUTE_MS = 1500;

let device: Device;
let marks: string;
beforeEach(async () => {
  device = await createDevice({ packages: [slowPackage(6)] });
  marks = join(device.root, 'run');
});
afterEach(() => device.close());

const settings = (): string[] => [
  `main.owner_socket=${join(marks, 'owner.sock')}`,
  'main.idle_exit_min=1',
];
const mark = (name: string): Promise<boolean> =>
  access(join(marks, name)).then(
    () => true,
    () => false,
  );

async function start(
  env: NodeJS.ProcessEnv = {},
  set: readonly string[] = [],
): Promise<TestDaemon> {
  const daemon = await startDaemon(device, {
    set: [...settings(), ...set],
    env: { DEPOTD_IDLE_MINUTE_MS: String(MINUTE_MS), DEPOTD_MARKS: marks, ...env },
  });
  onTestFinished(() => daemon.close());
  return daemon;
}

const startPatient = (): Promise<TestDaemon> =>
  start({ DEPOTD_IDLE_MINUTE_MS: String(LONG_MINUTE_MS) });

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('with nobody there and nothing to do the daemon ends well, and leaves a mark of it', async () => {
  const { pid, log } = await start();

  await expect.poll(() => isThere(pid)).toBe(false);

  expect(log.at(-1)).toContain('"event":"stopped"');
  expect(await mark('asleep')).toBe(true);
});

test('the next one takes the mark away', async () => {
  const { pid } = await start();
  await expect.poll(() => isThere(pid)).toBe(false);
  await start({}, ['main.idle_exit_min=0']);

  await expect.poll(() => mark('asleep')).toBe(false);
});

test('it never ends where nobody would look for its mark, and the configuration is told so', async () => {
  const config = join(device.root, 'config');
  const write = (socket: string, more = ''): Promise<void> =>
    writeFile(
      config,
      `config depotd\n\toption auth none\n\toption owner_socket '${marks}/${socket}'\n${more}`,
    );
  const idle = '\toption idle_exit_min 1\n';
  await write('elsewhere/owner.sock');
  const words = ['--config', config, '--set', `main.root=${device.root}`];
  const listen = ['--set', 'main.listen=127.0.0.1:0'];
  const daemon = startCommand(
    ['sh', '-c', 'exec "$@" 2>&1', 'sh', process.execPath, DAEMON_PROGRAM, ...words, ...listen],
    { env: { ...device.env, DEPOTD_IDLE_MINUTE_MS: String(MINUTE_MS), DEPOTD_MARKS: marks } },
  );
  onTestFinished(() => daemon.exit.then(() => undefined));
  onTestFinished(() => daemon.signal('SIGTERM'));
  await daemon.printed('"event":"listening"');

  await write('elsewhere/owner.sock', idle);
  process.kill(daemon.pid, 'SIGHUP');
  await daemon.printed(`without a main.owner_socket in ${marks}`);
  // The other socket waits for a restart.
  await write('owner.sock', idle);
  process.kill(daemon.pid, 'SIGHUP');
  await daemon.printed('configuration read again');
  await delay(3 * MINUTE_MS);
  expect(isThere(daemon.pid)).toBe(true);
});

test.each([0, 4])(
  'procd, which starts again whatever ends, is told to end it; it answers %s',
  async (code) => {
    const calls = join(device.root, 'calls');
    const folder = join(device.root, 'programs');
    await mkdir(folder);
    await writeFile(
      join(folder, 'ubus'),
      `#!/bin/sh\necho "$*" >>${calls}\n[ ${code} != 0 ] || kill "$PPID"\nexit ${code}\n`,
      { mode: 0o755 },
    );
    const daemon = await start({
      DEPOTD_SERVICE: 'procd',
      PATH: `${folder}:${device.env.PATH ?? ''}`,
    });
    const isAsked = async (): Promise<string | undefined> => device.read('calls');
    await expect.poll(isAsked).toContain('call service delete {"name":"depotd"}');

    if (code === 0) await expect.poll(() => isThere(daemon.pid)).toBe(false);
    else await daemon.logged('goes on, though nobody needs it');
    // One that goes on tries again a minute later.
    await expect.poll(() => mark('asleep')).toBe(code === 0);
  },
);

test('one that its owner ends leaves no mark', async () => {
  const daemon = await startPatient();
  await daemon.kill('SIGTERM');

  expect(await mark('asleep')).toBe(false);
});

test('an event stream and a task keep it there, and it ends after them', async () => {
  const daemon = await startPatient();
  const stream = await openEvents(`${daemon.url}${daemon.base}/admin/system/events`);
  await delay(3 * LONG_MINUTE_MS);
  expect(isThere(daemon.pid)).toBe(true);
  await device.opkg('update');
  const id = await daemon.submit('install', { package: 'slow' });
  stream.close();
  await delay(3 * LONG_MINUTE_MS);
  expect(isThere(daemon.pid)).toBe(true);
  expect((await daemon.finished(id)).state).toBe('done');

  await expect.poll(() => isThere(daemon.pid)).toBe(false);
});

test.each(['packages.update_every_h=24', 'fleet.server=http://127.0.0.1:9'])(
  'what has to happen at a time keeps it there: %s',
  async (setting) => {
    const token = join(device.root, 'etc/token');
    await writeFile(token, 'secret\n', { mode: 0o600 });
    const daemon = await start({}, [
      setting,
      ...(setting.startsWith('fleet') ? [`fleet.token_file=${token}`] : []),
    ]);
    await delay(3 * MINUTE_MS);

    expect(isThere(daemon.pid)).toBe(true);
    expect(await mark('asleep')).toBe(false);
  },
);

test('a file that waits for a yes keeps it there, and it ends once that is dropped', async () => {
  const daemon = await startPatient();
  const form = new FormData();
  form.append('file', new Blob(['#!/bin/sh\n']), 'install.run');
  const url = `${daemon.url}${daemon.base}/admin/store/upload?hold=1`;
  const sent = await fetch(url, { method: 'POST', body: form, headers: { connection: 'close' } });
  const { file: id } = (await sent.json()) as { file: string };
  await delay(3 * LONG_MINUTE_MS);

  expect(isThere(daemon.pid)).toBe(true);
  expect((await daemon.post('admin/store/drop_file', { id })).status).toBe(200);
  await expect.poll(() => isThere(daemon.pid)).toBe(false);
});

test.each(RELAYS)(
  'who asks uhttpd (%s) has it started, once however many ask, and is answered',
  async (relay) => {
    const socket = join(device.root, 'depotd.sock');
    const program = join(device.root, 'start');
    const words = ['main.auth=none', `main.root=${device.root}`, `main.listen=unix:${socket}`];
    const set = [...settings(), ...words].map((one) => `--set '${one}'`).join(' ');
    await writeFile(
      program,
      `#!/bin/sh
echo start >>${device.root}/starts
export DEPOTD_MARKS='${marks}'
${process.execPath} ${DAEMON_PROGRAM} --config /dev/null ${set} &
echo $! >${device.root}/pid
`,
    );
    await chmod(program, 0o755);
    await mkdir(marks, { mode: 0o700 });
    await writeFile(join(marks, 'asleep'), '');
    const server = await startUhttpd({ socket, relay, slots: 5, wake: { start: program, marks } });
    onTestFinished(() => server.close());

    const answers = await Promise.all(
      Array.from({ length: 4 }, () => fetch(`${server.url}/cgi-bin/panel/admin/store/token`)),
    );

    const pid = Number(await readFile(join(device.root, 'pid'), 'utf8'));
    onTestFinished(() => {
      process.kill(pid, 'SIGKILL');
    });
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await readFile(join(device.root, 'starts'), 'utf8')).toBe('start\n');
    expect([await mark('asleep'), await mark('waking')]).toEqual([false, false]);
  },
);
