import { expect, test } from 'vitest';

import { slowPackage } from '../packages/awkward-packages.ts';
import { runCommand, startCommand } from '../command.ts';
import { startUpdatedDevice } from './start-device.ts';

const SLOW = { packages: [slowPackage(0.5)] };

test('into a pipe, opkg says nothing before the end', async () => {
  const { startOpkg } = await startUpdatedDevice(SLOW);
  const install = startOpkg('install', 'slow');
  await install.printed('slow: postinst begin');

  expect((await install.outcome).stdout).toMatch(
    /^slow: postinst begin\nslow: postinst end\nInstalling slow /,
  );
});

test('on a terminal, all comes as it happens and in order', async () => {
  const { env, root } = await startUpdatedDevice(SLOW);

  const install = startCommand(
    ['script', '-efqc', `opkg -o ${root} --force-postinstall install slow`, '/dev/null'],
    { env },
  );
  await install.printed('Installing slow (1.0-1) to root...\r\n');

  const { code, stdout } = await install.outcome;
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^Installing slow [^]*Configuring slow\.\r\nslow: postinst begin\r\nslow: postinst end\r\n$/,
  );
});

test('on a terminal, the errors come last', async () => {
  const { env, root } = await startUpdatedDevice();

  const install = await runCommand(
    ['script', '-efqc', `opkg -o ${root} --force-postinstall install nosuch badpost`, '/dev/null'],
    { env },
  );

  expect(install.code).toBe(255);
  expect(install.stdout).toMatch(
    /^Unknown package 'nosuch'\.\r\n[^]*badpost: cannot do it\r\nCollected errors:\r\n \* opkg_install_cmd: [^]*returned 3\.\r\n$/,
  );
});

test('with both outputs in one pipe, the errors come before what opkg held back', async () => {
  const { env, root } = await startUpdatedDevice();

  const install = await runCommand(['/bin/sh', '-c', `opkg -o ${root} install nosuch 2>&1`], {
    env,
  });

  expect(install.stdout).toBe(
    "Collected errors:\n * opkg_install_cmd: Cannot install package nosuch.\nUnknown package 'nosuch'.\n",
  );
});

test('200000 lines of a script arrive whole', async () => {
  const { opkg } = await startUpdatedDevice();

  const { stdout } = await opkg('install', 'chatty');

  expect(stdout.startsWith('chatty: line 1\nchatty: line 2\n')).toBe(true);
  expect(stdout).toContain('chatty: line 200000\nInstalling chatty ');
});

test('a reader who goes away ends opkg with SIGPIPE when it writes', async () => {
  const { env, root } = await startUpdatedDevice();

  const list = await runCommand(
    ['/bin/sh', '-c', `{ opkg -o ${root} info; echo "code $?" >&2; } | true`],
    { env },
  );

  expect(list.stderr).toBe('code 141\n');
});
