import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { createProcesses } from '../../src/device/processes.ts';
import { startCommand } from './command.ts';
import { firstLineOf, TERMINALS, prepareRuns } from './command-runs.ts';
import { bundledProgram } from '../support/bundled-program.ts';

describe.each(TERMINALS)('how a command starts, %s', (place) => {
  const runs = prepareRuns(place);

  test('the mark tells whether there is a terminal', async () => {
    const held = await runs.run(['sh', '-c', '[ -t 1 ] && [ -t 2 ]']);

    const isOnTerminal = place === 'on a terminal';
    expect(held.mark.isOnTerminal).toBe(isOnTerminal);
    expect(await held.exited()).toBe(isOnTerminal ? '0' : '1');
  });

  test('a command runs only after go', async () => {
    const held = await runs.hold(['sh', '-c', 'echo it runs']);
    await expect.poll(() => stateOf(held.mark.pid)).toBe('S');
    await expect
      .poll(() => readFile(held.exitFile, 'utf8').catch(() => undefined))
      .toMatch(/^\.{32}\n$/);
    expect(await held.output()).toBe('');
    expect(await runs.processes.count(held.job)).toBe(0);

    held.go();

    expect(await held.exited()).toBe('0');
    expect(await held.output()).toBe('it runs\n');
  });

  test('if the daemon dies before go, the command never runs', async () => {
    const exitFile = join(runs.folder, 'orphan');
    const daemon = startCommand([
      'node',
      await bundledProgram(join(import.meta.dirname, 'hold-command.ts')),
      runs.path,
      exitFile,
      'echo it ran',
    ]);
    await daemon.printed('held');

    daemon.signal('SIGKILL');

    expect(await firstLineOf(exitFile)).toBe('not-run');
    expect(await readFile(`${exitFile}.log`, 'utf8')).toBe('');
  });

  test('a command finds only the variables it was given, and nothing on its input', async () => {
    const held = await runs.run(
      ['sh', '-c', `cat; tr '\\0' '\\n' </proc/$$/environ 2>/dev/null || cat /proc/$$/environ`],
      { GREETING: 'hello world' },
    );

    await held.exited();
    const names = [...(await held.output()).matchAll(/(?:^|\n|\0)([A-Z_0-9a-z]+)=/g)]
      .map(([, name]) => name)
      .sort();
    expect(
      names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_', 'SHELL'].includes(name ?? '')),
    ).toEqual(['DEPOTD_JOB', 'GREETING', 'PATH']);
  });
});

describe.each(TERMINALS)('how a command ends, %s', (place) => {
  const runs = prepareRuns(place);

  test('arguments arrive as they are, whatever a shell would make of them', async () => {
    const awkward = [
      '',
      ' ',
      "it's",
      '"two"',
      '$(touch hacked)',
      '`touch hacked`',
      '$HOME',
      'a\nb',
      '; touch hacked',
      '-n',
      '--',
      '*',
      '\\',
      '\\n',
      '~',
      'ünï',
      '%s',
      '|',
      '&',
      "'; touch hacked; '",
    ];

    const held = await runs.run([
      'sh',
      '-c',
      'for word; do printf "<%s>" "$word"; done >arguments',
      'sh',
      ...awkward,
    ]);

    expect(await held.exited()).toBe('0');
    expect(await readFile(join(runs.folder, 'arguments'), 'utf8')).toBe(
      awkward.map((word) => `<${word}>`).join(''),
    );
    await expect(readFile(join(runs.folder, 'hacked'))).rejects.toThrow('ENOENT');
  });

  test.each([0, 1, 7, 130, 255])('exit code %i is handed on', async (code) => {
    expect(await (await runs.run(['sh', '-c', `exit ${code}`])).exited()).toBe(String(code));
  });

  test.each([0, 130])('without room for a file the holder ends with code %i', async (code) => {
    const text = `for one in *.exit; do /bin/rm -r $one; /bin/mkdir $one; done; exit ${code}`;
    expect(await (await runs.run(['sh', '-c', text])).ended).toBe(code);
  });

  test('a command that a signal ended has 128 and the signal', async () => {
    expect(await (await runs.run(['sh', '-c', 'kill -TERM $$'])).exited()).toBe('143');
  });

  test('a program that is not there is exit code 127, and the log says so', async () => {
    const held = await runs.run(['no-such-program']);

    expect(await held.exited()).toBe('127');
    expect(await held.output()).toContain('no-such-program');
  });

  test('output of both kinds is in the log in the order in which it was printed', async () => {
    const held = await runs.run(['sh', '-c', 'echo one; echo two >&2; echo three; echo four >&2']);

    await held.exited();
    expect(await held.output()).toBe('one\ntwo\nthree\nfour\n');
  });
});

describe.each(TERMINALS)('signals, %s', (place) => {
  const runs = prepareRuns(place);

  test('a signal reaches everything that the command started, but the exit code is still written', async () => {
    const held = await runs.run([
      'sh',
      '-c',
      'sleep 61 & setsid sleep 62 & echo started; wait; wait',
    ]);
    await expect.poll(() => held.output()).toBe('started\n');
    await expect.poll(() => runs.processes.count(held.job)).toBe(3);

    expect(await runs.processes.signal(held.job, 'SIGTERM')).toBe(3);

    expect(await held.exited()).toBe('143');
    await expect.poll(() => runs.processes.count(held.job)).toBe(0);
  });

  test('what left the command behind is still counted and reached', async () => {
    const held = await runs.run([
      'sh',
      '-c',
      'setsid sh -c "echo >left; exec sleep 63" >/dev/null 2>&1 & until [ -e left ]; do sleep 0.01; done',
    ]);
    expect(await held.exited()).toBe('0');
    expect(await runs.processes.count(held.job)).toBe(1);

    await runs.processes.signal(held.job, 'SIGKILL');

    await expect.poll(() => runs.processes.count(held.job)).toBe(0);
  });

  test('what has another parent, session and environment is reached where there are control groups', async ({
    skip,
  }) => {
    const held = await runs.run([
      'sh',
      '-c',
      "(setsid /usr/bin/env -i /bin/sh -c 'echo $$ >hidden; exec sleep 67' >/dev/null 2>&1 &); until [ -s hidden ]; do sleep 0.01; done",
    ]);
    expect(await held.exited()).toBe('0');
    const pid = Number(await readFile(join(runs.folder, 'hidden'), 'utf8'));
    onTestFinished(() => {
      if (isThere(pid)) process.kill(pid, 'SIGKILL');
    });
    skip(held.mark.cgroup === undefined, 'no control groups (version 2) that may be written');
    expect(await runs.processes.count(held.job)).toBe(1);

    await runs.processes.killHolder(held.mark);

    await expect.poll(() => isThere(pid)).toBe(false);
    expect(await runs.processes.count(held.job)).toBe(0);
  });

  test('the signal of one job leaves the others alone', async () => {
    // A signal between fork(2) and execve(2) is still taken by the trap of the shell that forks.
    const one = await runs.run(['sh', '-c', 'echo ready; exec sleep 64']);
    const other = await runs.run(['sh', '-c', 'echo ready; exec sleep 65']);
    await expect.poll(() => one.output()).toBe('ready\n');
    await expect.poll(() => other.output()).toBe('ready\n');
    expect(await runs.processes.count(one.job)).toBe(1);
    expect(await runs.processes.count(other.job)).toBe(1);

    await runs.processes.signal(one.job, 'SIGTERM');

    expect(await one.exited()).toBe('143');
    expect(await runs.processes.count(other.job)).toBe(1);
    await runs.processes.signal(other.job, 'SIGTERM');
    await other.exited();
  });

  test('a program that heeds SIGINT ends with the code of its own', async () => {
    const held = await runs.run([
      'sh',
      '-c',
      'trap "echo cleaning; exit 5" INT; echo ready; while :; do sleep 0.05; done',
    ]);
    await expect.poll(() => held.output()).toBe('ready\n');

    await runs.processes.signal(held.job, 'SIGINT');

    expect(await held.exited()).toBe('5');
    expect(await held.output()).toBe('ready\ncleaning\n');
  });
});

describe.each(TERMINALS)('the holder, %s', (place) => {
  const runs = prepareRuns(place);

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s to the holder itself costs no exit code',
    async (signal) => {
      const held = await runs.run(['sh', '-c', 'echo ready; sleep 0.3; exit 4']);
      await expect.poll(() => held.output()).toBe('ready\n');

      process.kill(held.mark.pid, signal);

      expect(await held.exited()).toBe('4');
    },
  );

  test('a holder lives as long as its command, and a number used again is not taken for it', async () => {
    const held = await runs.run(['sleep', '66']);
    await expect.poll(() => runs.processes.count(held.job)).toBe(1);
    expect(await runs.processes.isAlive(held.mark)).toBe(true);
    expect(
      await runs.processes.isAlive({ ...held.mark, startTicks: held.mark.startTicks + 1 }),
    ).toBe(false);
    expect(await runs.processes.isAlive({ ...held.mark, bootId: 'another boot' })).toBe(false);

    await runs.processes.signal(held.job, 'SIGKILL');

    await held.exited();
    await expect.poll(() => runs.processes.isAlive(held.mark)).toBe(false);
  });
});

test('script(1) that fails for want of terminals counts as missing for that command alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-script-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const script = join(folder, 'script');
  const fault = 'script: failed to create pseudo-terminal: Too many open files';
  await writeFile(script, `#!/bin/sh\necho '${fault}' >&2\nexit 1\n`, { mode: 0o755 });
  const processes = createProcesses();
  const isOnTerminal = async (): Promise<boolean> => {
    const { mark, go, ended } = await processes.start({
      jobId: 'a',
      command: { argv: ['true'], environment: { PATH: `${folder}:/usr/bin:/bin` }, cwd: folder },
      logFile: join(folder, 'log'),
      exitFile: join(folder, 'exit'),
    });
    go();
    await ended;
    return mark.isOnTerminal;
  };

  expect(await isOnTerminal()).toBe(false);
  await rm(script);
  expect(await isOnTerminal()).toBe(true);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** As proc(5) has it: S is asleep. */
async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return /\) (\w)/.exec(stat)?.[1];
}
