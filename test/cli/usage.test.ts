import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { COMMANDS } from '../../src/cli/commands.ts';
import { runDepotctl } from './start-depotctl.ts';

test.each([
  [[], 'cannot do anything without a command: install, remove'],
  [['frobnicate'], 'cannot run "frobnicate": the commands are install, remove'],
  [['install'], 'cannot install nothing: usage: depotctl install NAME…'],
  [['list', 'demo'], 'cannot use "demo": usage: depotctl list'],
  [['list', '--path', '/mnt'], 'cannot use --path with list'],
  [['install', 'demo', '--path', '/mnt'], 'cannot use --path or --enable without --autoconf'],
  [
    ['install', 'demo', '--autoconf', '--enable', 'yes'],
    'cannot use --enable yes: 0 or 1 is expected',
  ],
  [['install', 'demo', '--colour'], "'--colour'"],
  [
    ['--url', 'ftp://device', 'list'],
    'cannot use --url ftp://device: http://HOST[:PORT][/PATH], https://… or unix:/PATH is expected',
  ],
  [['--session', 'abc', 'list'], 'cannot use the session: 32 hexadecimal digits are expected'],
  [['upload'], 'cannot upload nothing: usage: depotctl upload FILE…'],
  [['upgrade', 'demo', '--check'], 'cannot use --check with upgrade'],
  [
    ['--base', 'panel', 'list'],
    'cannot use --base panel: a path such as /cgi-bin/panel is expected',
  ],
])('%j ends with 2 and says what is wrong', async (words, complaint) => {
  const { code, stdout, stderr } = await runDepotctl(...words);

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(complaint);
  expect(stderr).toContain('see depotctl --help');
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
