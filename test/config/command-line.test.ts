import { constants } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { runCommand, type Outcome } from '../device/command.ts';
import { DAEMON_PROGRAM } from '../device/daemon-process.ts';

let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-command-line-'));
  file = join(folder, 'depotd');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function depotd(...args: string[]): Promise<Outcome> {
  return runCommand([process.execPath, DAEMON_PROGRAM, ...args]);
}

test('--check of a good configuration says nothing and exits with 0', async () => {
  await writeFile(file, "config depotd 'main'\n\toption auth password\n");

  expect(await depotd('--check', '--config', file)).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('--check names the file and line of a setting whose file cannot be read, and is content', async () => {
  await writeFile(
    file,
    "config depotd 'fleet'\n\toption token_file /no/token\nconfig depotd 'forge'\n\toption token_file /no/other\n",
  );

  expect(await depotd('--check', '--config', file)).toEqual({
    code: 0,
    stdout: '',
    stderr:
      `warning: ${file}:4: forge.token_file names /no/other, which cannot be read\n` +
      `warning: ${file}:2: fleet.token_file names /no/token, which cannot be read\n`,
  });
});

test('--check of a bad one names each mistake on a line of its own and exits with 2', async () => {
  await writeFile(file, "config depotd 'main'\n\toption auth nobody\n\toption colour red\n");

  const { code, stdout, stderr } = await depotd(
    '--check',
    '--config',
    file,
    '--set',
    'main.root=x',
  );

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  const lines = stderr.trimEnd().split('\n').sort();
  expect(lines).toEqual([
    expect.stringMatching(/^--set: cannot use main\.root "x"/),
    expect.stringContaining(`${file}:2: cannot use main.auth "nobody"`),
    expect.stringContaining(`${file}:3: cannot use main.colour`),
  ]);
});

/** Arguments with which the daemon must not start, and what it says. */
const REFUSED: [string, string[], string][] = [
  [
    'a --config file that is not there',
    ['--config', '/does/not/exist'],
    'cannot read the configuration /does/not/exist',
  ],
  ['a --config that is a folder', ['--config', tmpdir()], 'cannot read the configuration'],
  [
    'an open listener without log-in',
    ['--config', '/dev/null', '--set', 'main.auth=none', '--set', 'main.listen=0.0.0.0:0'],
    'cannot use main.auth none with main.listen 0.0.0.0:0',
  ],
  [
    'an unknown option',
    ['--config', '/dev/null', '--set', 'main.colour=red'],
    'cannot use main.colour',
  ],
  ['an unknown argument', ['--colour'], 'usage: depotd'],
  ['a word too much', ['start'], 'usage: depotd'],
  ['--config without a file', ['--config'], 'usage: depotd'],
];

test.each(REFUSED)('%s ends with 2, whether checked or started', async (_, args, message) => {
  for (const words of [args, [...args, '--check']]) {
    const { code, stdout, stderr } = await depotd(...words);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  }
});

test('a configuration that is a fifo is refused, and nobody waits for what comes from it', async () => {
  const fifo = join(folder, 'fifo');
  await runCommand(['mkfifo', fifo]);
  const answer = await Promise.race([depotd('--check', '--config', fifo), delay(10_000)]);
  // Lets go who waits.
  await (await open(fifo, constants.O_RDWR | constants.O_NONBLOCK)).close();

  expect(answer).toEqual({
    code: 2,
    stdout: '',
    stderr: `cannot read the configuration ${fifo}: it is a fifo\n`,
  });
});

test('an address that cannot be listened on ends with 1 and is named', async () => {
  const args = [
    '--config',
    '/dev/null',
    '--set',
    `main.root=${folder}`,
    '--set',
    'main.auth=none',
    '--set',
    'main.owner_socket=',
    '--set',
    `main.listen=unix:${folder}/absent/socket`,
  ];

  const { code, stderr } = await depotd(...args);

  expect(code).toBe(1);
  expect(stderr).toContain(`cannot listen on unix:${folder}/absent/socket`);
});

test('--version and --help are answered without a configuration', async () => {
  expect(await depotd('--version')).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^depotd \d+\.\d+\.\d+\n$/) as string,
    stderr: '',
  });
  expect(await depotd('--help', '--config', '/does/not/exist')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('usage: depotd') as string,
  });
});
