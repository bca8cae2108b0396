import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { runCommand, type Outcome } from '../device/command.ts';
import { DAEMON_PROGRAM } from '../device/daemon-process.ts';
import { createStage, type Stage } from './stage.ts';

const PID_FILE = 'run/depotd.pid';

test('start brings up one daemon, however often it is said; status, reload and stop know it', async () => {
  const on = await stageService();
  expect((await on.service('status')).code).toBe(3);
  expect(await on.service('start')).toMatchObject({ code: 0 });
  const pid = await on.stage.read(PID_FILE);

  expect(await on.service('status')).toMatchObject({
    code: 0,
    stdout: `depotd is running, process ${pid}`,
  });
  expect((await on.service('start')).code).toBe(0);
  expect((await on.service('reload')).code).toBe(0);
  expect(await on.stage.read(PID_FILE)).toBe(pid);

  expect((await on.service('stop')).code).toBe(0);
  expect(await readFile(`/proc/${pid.trim()}/cmdline`, 'latin1').catch(() => '')).toBe('');
  expect((await on.service('status')).code).toBe(3);
  expect((await on.service('reload')).code).toBe(7);
});

test('after kill -9 status tells it, and start brings another', async () => {
  const on = await stageService();
  await on.service('start');
  const pid = Number(await on.stage.read(PID_FILE));
  process.kill(pid, 'SIGKILL');
  await expect.poll(async () => (await on.service('status')).code).toBe(1);

  expect((await on.service('start')).code).toBe(0);
  expect(Number(await on.stage.read(PID_FILE))).not.toBe(pid);
});

test('nobody starts a daemon again that was idle and is then stopped by its owner', async () => {
  const on = await stageService();
  for (const name of ['asleep', 'waking']) await on.stage.write(`run/depotd/${name}`, '');
  expect((await on.service('stop')).code).toBe(0);
  expect(await readdir(join(on.stage.root, 'run/depotd'))).toEqual([]);
});

test('a process that got the number of a daemon is left alone', async () => {
  const on = await stageService();
  await on.stage.write(PID_FILE, `${process.pid}\n`);

  expect((await on.service('status')).code).toBe(1);
  expect((await on.service('stop')).code).toBe(0);
  // This test goes on, so nobody ended it.
  await expect(on.stage.read(PID_FILE)).rejects.toThrow('ENOENT');
});

test('with a wrong configuration it does not start, and says why with file and line', async () => {
  const on = await stageService();
  const config = await on.stage.write(
    'etc/config/depotd',
    "config depotd 'main'\n\toption colour 'blue'\n",
  );

  const start = await on.service('start');
  expect(start).toMatchObject({
    code: 6,
    stderr: expect.stringContaining(`${config}:2: cannot use main.colour`) as string,
  });
  await expect(on.stage.read(PID_FILE)).rejects.toThrow('ENOENT');
});

test('the first start after a boot takes up an upgrade that was cut off; those after it do not', async () => {
  const on = await stageService();
  await on.service('start');
  await expect.poll(() => on.stage.read('resumed').catch(() => '')).toBe('resumed\n');
  await on.service('restart');
  expect(await on.stage.read('resumed')).toBe('resumed\n');
});

test('an action that it does not know ends with 2 and names those that it knows', async () => {
  const on = await stageService();
  expect(await on.service('sing')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('start|stop|status|restart') as string,
  });
});

test.skipIf(existsSync('/run/systemd/system')).each([
  [['upgrade', '0.1.0-1'], true],
  [['upgrade', '0.2.0-1'], false],
  [['upgrade', '0.10.0'], false],
  [['remove'], true],
  [['failed-upgrade', '0.1.0-1'], false],
])('before dpkg %j what runs is stopped: %s', async (words, isStopped) => {
  const stage = await createStage();
  const script = await stage.lay('packaging/debian/prerm', 'prerm');
  await stage.write('bin/invoke-rc.d', `#!/bin/sh\necho "$*" >${stage.root}/ran\n`, 0o755);
  // As dpkg(1) compares, for versions of numbers alone.
  const older = '[ "$1 $3" = "--compare-versions lt" ] || exit 2; [ "$2" != "$4" ]';
  const first = `$(printf '%s\\n' "$2" "$4" | sort -V | head -n 1)`;
  await stage.write('bin/dpkg', `#!/bin/sh\n${older} && [ "${first}" = "$2" ]\n`, 0o755);
  const env = { PATH: `${stage.root}/bin:/usr/bin:/bin` };

  expect(await runCommand([script, ...words], { env })).toMatchObject({ code: 0, stderr: '' });
  const ran = await stage.read('ran').catch(() => undefined);
  expect(ran).toBe(isStopped ? '--skip-systemd-native depotd stop\n' : undefined);
});

/**
 * The script and the built daemon on a device in a folder; a daemon that is left goes away with the
 * test.
 */
async function stageService(): Promise<{
  stage: Stage;
  service: (action: string) => Promise<Outcome>;
}> {
  const stage = await createStage();
  const { root } = stage;
  const script = await stage.lay('init/depotd.sysv', 'etc/init.d/depotd');
  await stage.lay('init/reload', 'usr/lib/depotd/reload');
  await stage.write(
    'usr/lib/depotd/resume-self-upgrade',
    `#!/bin/sh\necho resumed >>${root}/resumed\n`,
    0o755,
  );
  const config = await stage.write(
    'etc/config/depotd',
    `config depotd 'main'\n\toption auth 'none'\n\toption owner_socket ''\n\tlist listen 'unix:${root}/depotd.sock'\n`,
  );
  for (const name of ['start.cjs', 'depotd.cjs']) {
    await copyFile(join(dirname(DAEMON_PROGRAM), name), join(root, 'usr/lib/depotd', name));
  }
  const program = `#!/bin/sh\nexec '${process.execPath}' ${root}/usr/lib/depotd/start.cjs --config ${config} --set main.root=${root}/device "$@"\n`;
  await stage.write('usr/sbin/depotd', program, 0o755);
  await stage.write('run/empty', '');
  const service = (action: string): Promise<Outcome> => runCommand([script, action]);
  onTestFinished(async () => {
    await service('stop');
  });
  return { stage, service };
}
