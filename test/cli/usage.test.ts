import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { parseCommandLine } from '../../src/cli/command-line.ts';
import { COMMANDS } from '../../src/cli/usage/commands.ts';
import { commandHelp, helpText } from '../../src/cli/usage/help.ts';
import { runCommand } from '../device/command.ts';
import { DEPOTCTL, runDepotctl } from './start-depotctl.ts';

test.each([
  [[], 'cannot do anything without a command: search, info'],
  [['frobnicate'], 'cannot run "frobnicate": the commands are search, info'],
  [['instal', 'demo'], 'cannot run "instal": there is no such command; did you mean install?'],
  [['help', 'upgrad'], 'did you mean upgrade?'],
  [['remove', 'demo', '--dryrun'], "cannot use '--dryrun': there is no such option; did you mean"],
  [['plan', 'instal', 'demo'], 'install, remove or upgrade is expected; did you mean install?'],
  [['plan', 'install'], 'cannot run "plan install" with 0 names: usage: depotctl plan install|'],
  [['feeds', 'add', 'mine'], 'cannot run "feeds add" with 1 name: usage: depotctl feeds'],
  [
    ['feeds', 'drop', 'mine'],
    'cannot run "feeds drop": add, remove, on, off, no-upgrades or upgrades is expected',
  ],
  [['completion', 'tcsh'], 'cannot run "completion tcsh": bash, zsh or fish is expected'],
  [['update', '--yes'], 'cannot use --yes with update'],
  [['install'], 'cannot run "install" without NAME: usage: depotctl install NAME…'],
  [['list', 'demo'], 'cannot use "demo": usage: depotctl list'],
  [['upgrade', ''], 'cannot use "": usage: depotctl upgrade [NAME…]'],
  [['remove', 'demo', ' '], 'cannot use " ": usage: depotctl remove NAME…'],
  [['plan', 'upgrade', ''], 'cannot use "": usage: depotctl plan'],
  [['undo', '\n'], 'cannot use "\n": usage: depotctl undo [TASK|UPLOAD]'],
  [['list', '--path', '/mnt'], 'cannot use --path with list'],
  [['install', 'demo', '--path', '/mnt'], 'cannot use --path or --enable without --autoconf'],
  [
    ['install', 'demo', '--autoconf', '--enable', 'yes'],
    'cannot use --enable yes: 0 or 1 is expected',
  ],
  [['remove', 'demo', '--confirm', '5'], 'cannot use --confirm 5: 30 to 600 seconds are expected'],
  [['install', 'demo', '--colour'], "cannot use '--colour': there is no such option"],
  [
    ['--url', 'ftp://device', 'list'],
    'cannot use --url ftp://device: http://HOST[:PORT][/PATH], https://… or unix:/PATH is expected',
  ],
  [['--session', 'abc', 'list'], 'cannot use the session: 32 hexadecimal digits are expected'],
  [['upload'], 'cannot run "upload" without FILE: usage: depotctl upload FILE…'],
  [['confirm'], 'cannot run "confirm" without TASK: usage: depotctl confirm TASK'],
  [['completion'], 'cannot run "completion" without bash, zsh or fish: usage: depotctl completion'],
  [['upgrade', 'demo', '--check'], 'cannot use --check with upgrade'],
  [
    ['--base', 'panel', 'list'],
    'cannot use --base panel: a path such as /cgi-bin/panel is expected',
  ],
])('%j is refused with what is wrong', (words, complaint) => {
  expect(parseCommandLine(words)).toEqual({
    problem: expect.stringContaining(complaint) as string,
  });
});

test('for an option of one letter no other is suggested', () => {
  expect(parseCommandLine(['install', '-z', 'demo'])).toEqual({
    problem: "cannot use '-z': there is no such option",
  });
});

test('what is wrong ends with 2 and leads to the help', async () => {
  expect(await runDepotctl('install')).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^depotctl: cannot run "install" without NAME: .*\ndepotctl: see depotctl --help\n$/,
    ) as string,
  });
});

test('--help names every command, --version the version', async () => {
  const help = await runDepotctl('--help');
  const version = await runDepotctl('--version');

  expect(help.code).toBe(0);
  for (const command of Object.keys(COMMANDS)) expect(help.stdout).toContain(`\n  ${command}`);
  expect(help.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(version.stdout).toMatch(/^depotctl \d+\.\d+\.\d+\n$/);
});

test.each([
  [30, 40],
  [40, 40],
  [64, 64],
  [250, 100],
])('on a terminal of %i columns help uses %i of them', (columns, most) => {
  const look = { columns, word: (text: string) => text };
  for (const name of [undefined, 'feeds', 'login', 'upgrade'] as const) {
    const text = name === undefined ? helpText(look) : commandHelp(name, look);

    const longest = longestOf(text);
    expect(longest, name).toBeLessThanOrEqual(most);
    expect(longest, name).toBeGreaterThan(most - 12);
  }
});

test('help finds out how wide the terminal is', async () => {
  const command = `stty cols 64; exec ${process.execPath} ${DEPOTCTL} help feeds`;
  const { stdout } = await runCommand(['script', '-qec', command, '/dev/null']);

  const text = stdout.replaceAll('\r', '');
  expect(text).toBe(commandHelp('feeds', { columns: 64, word: (each) => each }));
});

/** Examples are to be copied, and stand as they are. */
function longestOf(help: string): number {
  const [text = ''] = help.split('for example:');
  return Math.max(...text.split('\n').map((line) => line.length));
}

test('help names every exit code', async () => {
  const { stdout } = await runDepotctl('help');

  const [, codes = ''] = stdout.split('Exit codes: ');
  expect(codes.match(/\d+/g)).toEqual(['0', '1', '2', '3', '130']);
});

test('help COMMAND and COMMAND --help say which options it takes, within 80 columns', async () => {
  const help = await runDepotctl('help', 'install');

  expect(help).toMatchObject({ code: 0, stderr: '' });
  for (const option of COMMANDS.install.options) expect(help.stdout).toContain(`--${option}`);
  expect(help.stdout).toContain('for example:');
  expect(help.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(await runDepotctl('install', '--help')).toEqual(help);
  expect((await runDepotctl('help', 'backup')).stdout).toMatch(/--path FOLDER .* the backup, in/);
  expect(await runDepotctl('help')).toEqual(await runDepotctl('--help'));
});

test.each([
  ['http://127.0.0.1:1', 'nobody listens there'],
  ['unix:/nonexistent/depotd.sock', 'there is no such socket'],
])('a daemon that is not at %s ends it with 3', async (url, reason) => {
  const { code, stderr } = await runDepotctl('--url', url, 'list');

  expect(code).toBe(3);
  expect(stderr).toBe(
    `depotctl: cannot reach the daemon at ${url}: ${reason}; is depotd running?\n`,
  );
});

test('another server at the address ends it with 3 and is told as such', async () => {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>router</h1>'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());

  const { code, stderr } = await runDepotctl(
    '--url',
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    'list',
  );

  expect(code).toBe(3);
  expect(stderr).toContain("it is not depotd's (HTTP 200, text/html); see --url and --base");
});
