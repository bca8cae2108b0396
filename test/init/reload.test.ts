import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { DAEMON_PROGRAM } from '../device/daemon-process.ts';
import { REPOSITORY } from '../source-tree.ts';
import { createStage } from './stage.ts';

const RELOAD = join(REPOSITORY, 'init/reload');

test('a daemon that was started this moment reads its configuration again and goes on', async () => {
  const { root, write } = await createStage();
  const config = await write(
    'config',
    "config depotd 'main'\n\toption auth 'none'\n\toption owner_socket ''\n\tlist listen '127.0.0.1:0'\n",
  );
  const daemon = startDaemon(root, config);

  expect(await runCommand([RELOAD, String(daemon.pid)])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });

  await expect
    .poll(daemon.log, { timeout: 20_000 })
    .toContain('"event":"configuration read again"');
  expect(daemon.hasEnded()).toBe(false);
});

test('a wrong configuration ends it with 2 and is named with file and line; the daemon goes on', async () => {
  const stage = await createStage();
  const reload = await stage.lay('init/reload', 'usr/lib/depotd/reload');
  const config = await stage.write(
    'config',
    "config depotd 'main'\n\toption auth 'none'\n\toption owner_socket ''\n\tlist listen '127.0.0.1:0'\n",
  );
  await stage.write(
    'usr/sbin/depotd',
    `#!/bin/sh\nexec '${process.execPath}' '${DAEMON_PROGRAM}' --config '${config}' "$@"\n`,
    0o755,
  );
  const daemon = startDaemon(stage.root, config);

  expect(await runCommand([reload, String(daemon.pid)])).toMatchObject({ code: 0, stderr: '' });
  await stage.write('config', "config depotd 'main'\n\toption auth 'nobody'\n");
  expect(await runCommand([reload, String(daemon.pid)])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`${config}:2: cannot use main.auth "nobody"`) as string,
  });

  await expect
    .poll(daemon.log, { timeout: 20_000 })
    .toContain('"event":"configuration not taken over"');
  expect(daemon.hasEnded()).toBe(false);
});

test.each([['4194305'], ['']])('where there is no process %j it says so', async (pid) => {
  expect(await runCommand([RELOAD, pid])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^depotd: cannot reload: process /) as string,
  });
});

interface StartedDaemon {
  pid: number | undefined;
  log: () => string;
  hasEnded: () => boolean;
}

function startDaemon(root: string, config: string): StartedDaemon {
  const daemon = spawn(
    process.execPath,
    [DAEMON_PROGRAM, '--config', config, '--set', `main.root=${root}`],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  onTestFinished(async () => {
    daemon.kill('SIGKILL');
    await once(daemon, 'close');
  });
  let log = '';
  daemon.stderr.setEncoding('utf8').on('data', (piece: string) => (log += piece));
  return { pid: daemon.pid, log: () => log, hasEnded: () => daemon.exitCode !== null };
}
