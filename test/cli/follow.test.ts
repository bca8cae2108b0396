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
  const [, id = ''] = /to go on watching: depotctl --url \S+ log -f (\w+)\n/.exec(stderr) ?? [];
  expect(code).toBe(130);
  expect(stderr).toContain(`depotctl --url ${socketUrl} stop ${id}`);
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
