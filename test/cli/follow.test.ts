import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { slowPackage } from '../device/packages/awkward-packages.ts';
import { DEPOTCTL, startClientTest } from './start-depotctl.ts';

test('following goes on where it was when the daemon is killed and started again', async () => {
  const { start, daemon } = await startClientTest({ packages: [slowPackage(4)] });
  const install = start('install', 'slow');
  await install.printed('slow: postinst begin');

  await daemon.kill('SIGKILL');
  await daemon.restart();

  const { code, stdout, stderr } = await install.outcome;
  expect(code).toBe(0);
  expect(stdout).toBe(await daemon.logOf('latest'));
  expect(stdout).toContain('slow: postinst end');
  expect(stderr).toContain('trying again for 30 s');
  expect(stderr).toContain('connected again');
});

test('Ctrl-C leaves the job running and says how to go on watching it', async () => {
  const { start, daemon, socketUrl } = await startClientTest({ packages: [slowPackage(3)] });
  const install = start('install', 'slow');
  await install.printed('slow: postinst begin');

  install.signal('SIGINT');

  const { code, stderr } = await install.outcome;
  const self = `depotctl --url ${socketUrl}`;
  const [, id = ''] = / log -f (\w+) /.exec(stderr) ?? [];
  expect(code).toBe(130);
  expect(stderr).toBe(
    `depotctl: the task goes on: ${self} log -f ${id} goes on watching, ${self} stop ${id} ends it\n`,
  );
  const followed = await start('log', '-f', id).outcome;
  expect(followed.code).toBe(0);
  expect(followed.stdout).toBe(await daemon.logOf('latest'));
});

test('a reader who has seen enough ends it without a word', async () => {
  const { depotctl, socketUrl } = await startClientTest();
  await depotctl('install', 'chatty', '--json');

  const script = '{ "$0" "$1" --url "$2" log; echo "ended with $?" >&2; } | head -n 1';
  const { stdout, stderr } = await runCommand([
    'sh',
    '-c',
    script,
    process.execPath,
    DEPOTCTL,
    socketUrl,
  ]);

  expect(stdout).toBe('Installing chatty (1.0-1) to root...\r\n');
  expect(stderr).toBe('ended with 141\n');
});

test('where what is printed cannot be written, that is said in one line', async () => {
  const { socketUrl } = await startClientTest();

  const script = '"$0" "$1" --url "$2" feeds >/dev/full';
  const words = ['sh', '-c', script, process.execPath, DEPOTCTL, socketUrl] as const;
  const { code, stderr } = await runCommand([...words]);

  expect(code).toBe(1);
  expect(stderr.split('\n').at(-2)).toMatch(/^depotctl: cannot write standard output: .*no space/);
  expect(stderr).not.toContain(' at ');
});

/** Presses Ctrl-C, or another key, at a terminal when the text has appeared. @returns what the terminal showed */
async function interrupted(
  words: readonly string[],
  text: string,
  key = '\x03',
): Promise<{ code: unknown; shown: string }> {
  const command = [process.execPath, DEPOTCTL, ...words].join(' ');
  const terminal = spawn('script', ['-qec', `stty cols 400; ${command}`, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  let isPressed = false;
  terminal.stdout.setEncoding('utf8').on('data', (piece: string) => {
    shown += piece;
    if (isPressed || !shown.includes(text)) return;
    isPressed = true;
    terminal.stdin.write(key);
  });
  const code = await new Promise((resolve) => terminal.on('close', resolve));
  return { code, shown };
}

/** Of what a terminal was sent the last line that stands there, and whether a line is open. */
function lastLine(shown: string): string | undefined {
  if (!shown.endsWith('\r\n')) return undefined;
  return shown.trimEnd().split('\r\n').at(-1)?.split('\r\x1b[K').at(-1);
}

test('Ctrl-C at a question leaves one sentence on a line of its own, and changes nothing', async () => {
  const { socketUrl, depotctl } = await startClientTest();

  const words = ['--url', socketUrl, 'install', 'demo'];
  const { code, shown } = await interrupted(words, 'Go on? [Y/n] ');

  expect([code, lastLine(shown)]).toEqual([130, 'depotctl: nothing was changed']);
  expect((await depotctl('jobs')).stdout).not.toContain('install');
});

test('the end of the input at a question is a no, said on a line of its own', async () => {
  const { socketUrl } = await startClientTest();

  const words = ['--url', socketUrl, 'install', 'demo'];
  const { code, shown } = await interrupted(words, 'Go on? [Y/n] ', '\x04');

  expect(code).toBe(1);
  expect(shown).toMatch(/Go on\? \[Y\/n\] [^a-z]*\r\ndepotctl: nothing was changed\r\n$/);
});

test('Ctrl-C at the question of a restore leaves nothing of the file that was sent for it', async () => {
  const { socketUrl, depotctl, device } = await startClientTest();
  const file = join(device.root, 'backup.tar.gz');
  await depotctl('backup', file);
  const [{ id }] = JSON.parse((await depotctl('backups', '--json')).stdout) as [{ id: string }];
  await rm(join(device.root, 'etc/depotd/backups', `${id}.tar.gz`));

  const { code, shown } = await interrupted(['--url', socketUrl, 'restore', file], 'Go on? [Y/n] ');

  expect([code, lastLine(shown)]).toEqual([130, 'depotctl: nothing was changed']);
  expect((await depotctl('backups')).stderr).toContain('there are no backups');
});

test('Ctrl-C below a log leaves one sentence on a line of its own, and no progress line', async () => {
  const { socketUrl } = await startClientTest({ packages: [slowPackage(3)] });

  const words = ['--url', socketUrl, 'install', '-y', 'slow'];
  const { code, shown } = await interrupted(words, 'slow: postinst begin');

  expect(code).toBe(130);
  expect(lastLine(shown)).toMatch(/^depotctl: the task goes on: .* log -f \w+ goes on watching, /);
});
