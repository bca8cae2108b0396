import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fstatSync, openSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { DAEMON_PROGRAM } from '../device/daemon-process.ts';
import { createStage, type Stage } from '../init/stage.ts';

const CONFIG =
  "config depotd 'main'\n\toption auth 'none'\n\toption owner_socket ''\n\tlist listen '127.0.0.1:0'\n";
/** Applies after a restart only, of which a reload warns; the next one has a mistake. */
const WARNED = `${CONFIG}\toption log_dir '/elsewhere'\n`;
const WRONG = `${CONFIG}\toption colour 'red'\n`;

test.each([
  ['auto', /^\{"level":30,.*"event":"listening"\}$/m],
  ['json', /^\{"level":30,.*"event":"listening"\}$/m],
  ['text', /^\d{4}-\S+Z info listening address=127\.0\.0\.1:0 host=127\.0\.0\.1 port=\d+$/m],
])('outside of syslog main.log_format %s writes such lines to stderr', async (format, line) => {
  const on = await start({ args: ['--set', `main.log_format=${format}`] });

  await expect.poll(on.stderr, { timeout: 20_000 }).toMatch(line);
  expect(on.stdout()).toBe('');
});

test('a reader that knows priorities gets text with the priority of each event', async () => {
  const on = await start({ env: { DEPOTD_LOG_PREFIX: '1' } });

  await on.logsAll(on.stderr);
  expect(on.stderr()).toMatch(/^<6>listening address=/m);
  expect(on.stderr()).toMatch(/^<4>options that apply after a restart only options=/m);
  expect(on.stderr()).toMatch(/^<3>configuration not taken over reason=/m);
});

test("systemd's journal is such a reader; a variable that is left from another stream says nothing", async () => {
  const stage = await createStage();
  const file = await stage.write('journal', '');
  const descriptor = openSync(file, 'a');
  const { dev, ino } = fstatSync(descriptor);
  const on = await start({ env: { JOURNAL_STREAM: `${dev}:${ino}` }, stderr: descriptor });
  await expect.poll(() => stage.read('journal'), { timeout: 20_000 }).toMatch(/^<6>listening /m);
  on.end();

  const left = await start({ env: { JOURNAL_STREAM: '1:1' } });
  await expect.poll(left.stderr, { timeout: 20_000 }).toMatch(/^\{"level":30,/m);
});

test('under procd each event goes where its priority is: information to stdout, errors to stderr, warnings to logger', async () => {
  const stage = await createStage();
  await stage.write(
    'bin/logger',
    `#!/bin/sh\n{ echo "$@"; cat; } >>'${stage.root}/warnings'\n`,
    0o755,
  );
  await stage.write('warnings', '');
  const on = await start({
    parent: join(stage.root, 'procd'),
    env: { PATH: `${stage.root}/bin:${process.env.PATH ?? ''}` },
  });

  await on.logsAll(on.stderr);
  expect(on.stdout()).toMatch(/^listening address=/m);
  expect(on.stderr()).toMatch(/^configuration not taken over reason=/);
  expect(on.stderr()).not.toContain('listening');
  await expect
    .poll(() => stage.read('warnings'), { timeout: 20_000 })
    .toMatch(/^-t depotd\[\d+\] -p daemon\.warning\noptions that apply after a restart only /m);
});

test('without a logger warnings are not lost', async () => {
  const stage = await createStage();
  const on = await start({ parent: join(stage.root, 'procd'), env: { PATH: '/nonexistent' } });

  await on.logsAll(on.stderr);
  await expect.poll(on.stderr, { timeout: 20_000 }).toMatch(/^options that apply after a restart/m);
});

interface Started {
  stdout: () => string;
  stderr: () => string;
  end: () => void;
  /** Has it log an event of information, a warning and an error. */
  logsAll: (output: () => string) => Promise<void>;
}

interface StartOptions {
  args?: string[];
  env?: NodeJS.ProcessEnv;
  /** What starts it: a copy of a shell by this path. */
  parent?: string;
  /** A descriptor for stderr; default: a pipe. */
  stderr?: number;
}

async function start({ args = [], env, parent, stderr }: StartOptions): Promise<Started> {
  const stage = await createStage();
  const config = await stage.write('config', CONFIG);
  const daemon = [process.execPath, DAEMON_PROGRAM, '--config', config];
  const words = [...daemon, '--set', `main.root=${stage.root}`, ...args];
  if (parent !== undefined) await copyFile('/bin/sh', parent);
  // Not exec: the shell stays its parent. Cat makes pipes of what Node gives, which are sockets.
  const script = '{ { "$@" & echo $! >&3; wait; } 2>&1 >&4 | /bin/cat >&2; } 4>&1 | /bin/cat';
  const [program = '', ...rest] =
    parent === undefined ? words : [parent, '-c', script, 'procd', ...words];
  const child = spawn(program, rest, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', stderr ?? 'pipe', 'pipe'],
  });
  const read = { stdout: '', stderr: '', pid: '' };
  child.stdout?.on('data', (piece: Buffer) => (read.stdout += piece.toString()));
  child.stderr?.on('data', (piece: Buffer) => (read.stderr += piece.toString()));
  child.stdio[3]?.on('data', (piece: Buffer) => (read.pid += piece.toString()));
  const pid = (): number => (parent === undefined ? (child.pid ?? 0) : Number(read.pid));
  const closed = once(child, 'close');
  onTestFinished(async () => {
    try {
      process.kill(pid(), 'SIGKILL');
    } catch {
      // It has ended.
    }
    await closed;
  });
  return {
    stdout: () => read.stdout,
    stderr: () => read.stderr,
    end: () => void process.kill(pid(), 'SIGKILL'),
    logsAll: (output) => reloadTwice(stage, { pid, output, all: () => read.stdout + output() }),
  };
}

async function reloadTwice(
  stage: Stage,
  { pid, output, all }: { pid: () => number; output: () => string; all: () => string },
): Promise<void> {
  await expect.poll(all, { timeout: 20_000 }).toContain('listening');
  await stage.write('config', WARNED);
  process.kill(pid(), 'SIGHUP');
  await expect.poll(all, { timeout: 20_000 }).toContain('configuration read again');
  await stage.write('config', WRONG);
  process.kill(pid(), 'SIGHUP');
  await expect.poll(output, { timeout: 20_000 }).toContain('configuration not taken over');
}
