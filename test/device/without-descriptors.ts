import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

import { run, startDetached } from '../../src/device/exec.ts';
import { isShortage } from '../../src/device/shortage.ts';

/** Runs commands in a process that has no file descriptor left, and prints what came of it. */
const command = { argv: ['true'] as [string], environment: {}, cwd: '/' };
const limits = { timeoutMs: 5000, maxBytes: 1024 };
await run(command, limits);
const open = readdirSync('/proc/self/fd').length - 1;
spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${open}:`]);
const { exitCode, stderr } = await run(command, limits);
const detached = await startDetached(command, 1).then(
  () => 'started',
  (error: unknown) => `${String(isShortage(error))} ${String(error)}`,
);
process.stdout.write(JSON.stringify({ isRun: exitCode !== undefined, stderr, detached }));
