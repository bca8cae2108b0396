import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { bundledProgram } from '../support/bundled-program.ts';
import { startCommand } from './command.ts';

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
