import { readlink } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { runCommand } from '../command.ts';
import type { Device } from '../device.ts';
import { simplePackage } from '../packages/package-parts.ts';
import type { FeedPackage } from '../feed-index.ts';
import { errors, lines, startUpdatedDevice } from './start-device.ts';

test('an offline root runs no scripts unless it is told to', async () => {
  const device = await startUpdatedDevice();

  const install = await withoutForce(device, 'install', 'badpost');

  expect(install).toMatchObject({ code: 0, stderr: '' });
  expect((await device.database()).get('badpost')?.state).toBe('installed');
});

test('forced scripts run on the host, in the folder opkg was started in, told of the root by PKG_ROOT only', async () => {
  const device = await startUpdatedDevice({
    packages: [reporting('"cwd=[$PWD] PKG_ROOT=[$PKG_ROOT] IPKG_INSTROOT=[$IPKG_INSTROOT]"')],
  });
  const env = { ...device.env };
  delete env.IPKG_INSTROOT;

  const install = await runCommand(
    ['opkg', '-o', device.root, '--force-postinstall', 'install', 'reporter'],
    { env, cwd: device.root },
  );

  expect(install.stdout).toContain(
    `reporter.postinst configure: cwd=[${device.root}] PKG_ROOT=[${device.root}/] IPKG_INSTROOT=[]\n`,
  );
});

test('each script is called with its own arguments', async () => {
  const device = await startUpdatedDevice({
    packages: [reporting('"PKG_UPGRADE=[$PKG_UPGRADE]"')],
  });

  const install = await device.opkg('install', 'reporter');
  device.feed.publish([reporting('"PKG_UPGRADE=[$PKG_UPGRADE]"', '2.0-1')]);
  await device.opkg('update');
  const upgrade = await device.opkg('upgrade', 'reporter');
  const remove = await device.opkg('remove', 'reporter');

  expect([install, upgrade, remove].map(spoken)).toEqual([
    ['preinst install: PKG_UPGRADE=[0]', 'reporter.postinst configure: PKG_UPGRADE=[0]'],
    [
      'reporter.prerm upgrade 2.0-1: PKG_UPGRADE=[1]',
      'preinst upgrade 1.0-1: PKG_UPGRADE=[1]',
      'reporter.postrm upgrade 2.0-1: PKG_UPGRADE=[1]',
      'reporter.postinst configure: PKG_UPGRADE=[1]',
    ],
    ['reporter.prerm remove: PKG_UPGRADE=[0]', 'reporter.postrm remove: PKG_UPGRADE=[0]'],
  ]);
});

test('while a package is configured, a folder of stand-ins leads the PATH', async () => {
  const { env, opkg } = await startUpdatedDevice({ packages: [reporting('"PATH=[$PATH]"')] });

  expect((await opkg('install', 'reporter')).stdout).toContain(
    `configure: PATH=[/usr/share/opkg/intercept:${env.PATH ?? ''}]\n`,
  );
});

test("OpenWrt's default scripts enable and disable the service below the root", async () => {
  const { opkg, root, read } = await startUpdatedDevice();
  await opkg('install', 'demo-app');
  expect(await readlink(join(root, 'etc/rc.d/S99demo-app'))).toBe('../init.d/demo-app');

  await opkg('remove', 'demo-app');
  expect(await read('etc/rc.d/S99demo-app')).toBeUndefined();
});

test('an opkg inside a script fails on the lock', async () => {
  const { opkg, root } = await startUpdatedDevice();

  const install = await opkg('install', 'recopkg');

  expect(install.code).toBe(0);
  expect(install.stdout).toContain(
    lines('recopkg: calling opkg inside postinst', 'recopkg: inner opkg rc=255'),
  );
  expect(install.stderr).toBe(
    errors(
      `opkg_conf_load: Could not lock ${root}//var/lock/opkg.lock: Resource temporarily unavailable.`,
    ),
  );
});

/** Its scripts tell how they are called and what the words, given to echo, come to. */
function reporting(words: string, version = '1.0-1'): FeedPackage {
  const script = `#!/bin/sh\necho "$(basename "$0") $*:" ${words}\n`;
  const scripts = Object.fromEntries(
    ['preinst', 'postinst', 'prerm', 'postrm'].map((name) => [name, script]),
  );
  return simplePackage('reporter', { version, scripts });
}

function spoken({ stdout }: { stdout: string }): string[] {
  return stdout.split('\n').filter((line) => line.includes(': PKG_UPGRADE='));
}

function withoutForce(device: Device, ...args: readonly string[]): ReturnType<typeof runCommand> {
  return runCommand(['opkg', '-o', device.root, ...args], { env: device.env, cwd: device.root });
}
