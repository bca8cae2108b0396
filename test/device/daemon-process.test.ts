import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { bundledProgram } from '../support/bundled-program.ts';
import { startCommand } from './command.ts';
import { daemonProcess, stopHosted } from './daemon-hosts.ts';

const LEAVER = await bundledProgram(join(import.meta.dirname, 'left-daemon.ts'));

test('a daemon that a test did not end ends with its process, and holds no output open', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'depotd-left-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const leaver = startCommand([process.execPath, LEAVER, directory]);
  await leaver.printed('\n');

  leaver.signal('SIGTERM');

  const { code, stdout } = await leaver.outcome;
  expect(code).toBe(143);
  // Of one that nobody has waited for yet this much is left: no words.
  const words = readFile(`/proc/${/\d+/.exec(stdout)?.[0]}/cmdline`, 'latin1');
  expect(await words.catch(() => '')).toBe('');
});

test('a daemon that was killed is stopped at once, though what it was starting has its channel open', async () => {
  const starting = `require('node:child_process').spawn('sleep', ['30'], { stdio: [0, 2, 2, 3] });
process.stderr.write('started\\n');`;
  const child = spawn(process.execPath, ['-e', starting], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const host = { ...daemonProcess(child), daemons: 1 };
  await once(host.lines, 'line');
  child.kill('SIGKILL');
  await host.ended;

  const first = await Promise.race([
    stopHosted(host).then(() => 'stopped'),
    delay(5000, 'waiting'),
  ]);

  child.stderr?.destroy();
  expect(first).toBe('stopped');
});
