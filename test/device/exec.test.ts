import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import { run } from '../../src/device/exec.ts';
import { runCommand } from './command.ts';
import { bundledProgram } from '../support/bundled-program.ts';

const LIMITS = { timeoutMs: 20_000, maxBytes: 65_536 };
const shell = (text: string): Parameters<typeof run>[0] => ({
  argv: ['/bin/sh', '-c', text],
  environment: { PATH: process.env.PATH ?? '' },
  cwd: '/',
});

describe('a short command', () => {
  test('gives its exit code and both outputs as they came', async () => {
    await expect(run(shell('echo out; echo err >&2; exit 3'), LIMITS)).resolves.toEqual({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  test('is answered for when it has ended, though something that it left behind holds its output open', async () => {
    // In a session of its own before the command ends, or it would be ended with it.
    const leaveBehind = "exec 3>&1; pid=$(setsid sh -c 'sleep 60 >&3 & echo $!'); echo $pid";
    const { exitCode, stdout } = await run(shell(leaveBehind), LIMITS);
    process.kill(Number(stdout));
    expect(exitCode).toBe(0);
  });

  test('is read to its end though the daemon has no time to look at its output before its end', async () => {
    // The end of the one wakes a daemon that then has no time, and learns of both ends at once.
    const first = run(shell('sleep 0.2; echo first'), {
      ...LIMITS,
      onStdout: () => {
        holdUp(1000);
        setImmediate(() => holdUp(400));
      },
    });
    const second = run(shell('sleep 0.6; echo second'), LIMITS);
    await delay(50);
    holdUp(350);

    await first;
    await expect(second).resolves.toMatchObject({ exitCode: 0, stdout: 'second\n' });
  });

  test('that takes too long is ended with all that it started', async () => {
    const result = await run(shell('sleep 61 & echo $!; wait'), { ...LIMITS, timeoutMs: 1000 });
    expect(result).toMatchObject({ exitCode: undefined, cutShortBy: 'time' });
    await expect.poll(() => isRunning(Number(result.stdout)), { timeout: 10_000 }).toBe(false);
  });

  test('that prints too much is ended, and what it printed within the limit is kept', async () => {
    const result = await run(shell('echo first; sleep 1; exec yes'), { ...LIMITS, maxBytes: 1000 });
    expect(result).toMatchObject({ exitCode: undefined, cutShortBy: 'output', stdout: 'first\n' });
  });

  test('that is not there says so instead of throwing', async () => {
    const result = await run({ argv: ['/nowhere/program'], environment: {}, cwd: '/' }, LIMITS);
    expect(result.exitCode).toBeUndefined();
    expect(result.stderr).toContain('/nowhere/program');
  });

  test('ends at once when its caller goes away', async () => {
    const result = await run(shell('exec sleep 62'), {
      ...LIMITS,
      signal: AbortSignal.timeout(50),
    });
    expect(result).toMatchObject({ exitCode: undefined, cutShortBy: 'stop' });
  });
});

/** Keeps this process from everything else. */
function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** A process that has ended and waits for its parent does not count. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

test('a command that has no file descriptor to start with is refused, and whoever asked lives on', async () => {
  const program = await bundledProgram(join(import.meta.dirname, 'without-descriptors.ts'));

  const { code, stdout, stderr } = await runCommand(['node', program]);

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    isRun: false,
    stderr: 'cannot start true: no file descriptors are left',
    detached: 'true Error: cannot start true: no file descriptors are left',
  });
});

test.runIf(process.getuid?.() === 0)(
  'a command for which there are no processes is known as one to be tried again',
  async () => {
    const program = await bundledProgram(join(import.meta.dirname, 'without-processes.ts'));

    const { code, stdout, stderr } = await runCommand(['node', program]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      isRun: false,
      isShortage: true,
      detached: 'shortage',
      sync: 'shortage',
    });
  },
);
