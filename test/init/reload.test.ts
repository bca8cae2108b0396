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
    "config depotd 'main'\n\toption auth 'none'\n\tlist listen '127.0.0.1:0'\n",
  );
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

  expect(await runCommand([RELOAD, String(daemon.pid)])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });

  await expect.poll(() => log, { timeout: 20_000 }).toContain('"event":"configuration read again"');
  expect(daemon.exitCode).toBeNull();
});

test.each([['4194305'], ['']])('where there is no process %j it says so', async (pid) => {
  expect(await runCommand([RELOAD, pid])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^depotd: cannot reload: process /) as string,
  });
});
