import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import type { PackageContents } from '../../packaging/ipk.ts';
import { nodePackage, openwrtPackage } from '../../packaging/packages.ts';
import { createDevice, type Device } from '../device/device.ts';
import type { FeedPackage } from '../device/feed-index.ts';
import { simplePackage } from '../device/packages/package-parts.ts';
import { CONFIGURATION, stateFiles, TOOLS } from './installed-files.ts';

const STATE = stateFiles('ipk');

test('installing brings the programs, enables the service and runs the first configuration once', async () => {
  const device = await startDevice();
  const install = await device.opkg('install', 'depotd');

  expect(install).toMatchObject({ code: 0, stderr: '' });
  expect(await readdir(join(device.root, 'usr/lib/depotd'))).toEqual([
    'depotctl.mjs',
    'depotd.cjs',
    'depotd.mjs',
    'reload',
    'resume-self-upgrade',
    'start.cjs',
    'uhttpd-handler',
  ]);
  expect(await readdir(join(device.root, 'etc/rc.d'))).toEqual(['S99depotd']);
  expect((await device.database()).get('depotd')).toMatchObject({
    state: 'installed',
    version: '1.0-r1',
  });
});

test('after a removal the device is as it was before, to the last folder', async () => {
  const device = await startDevice();
  const before = await treeOf(device);
  await device.opkg('install', 'depotd');
  await layState(device);

  const removal = await device.opkg('remove', '--autoremove', 'depotd');

  expect(removal).toMatchObject({ code: 0, stderr: '' });
  expect(await treeOf(device)).toEqual(before);
});

test('a removal leaves a configuration that was changed, and nothing else', async () => {
  const device = await startDevice();
  const before = await treeOf(device);
  await device.opkg('install', 'depotd');
  await layState(device);
  await appendFile(join(device.root, CONFIGURATION), '# mine\n');

  await device.opkg('remove', '--autoremove', 'depotd');

  expect(await treeOf(device)).toEqual([...before, CONFIGURATION].sort());
  expect(await device.read(CONFIGURATION)).toContain('# mine');
});

test('an upgrade keeps the configuration, the password and the records', async () => {
  const device = await startDevice();
  await device.opkg('install', 'depotd');
  await layState(device);
  await appendFile(join(device.root, CONFIGURATION), '# mine\n');

  offer(device, '2.0');
  await device.opkg('update');
  expect((await device.opkg('upgrade', 'depotd')).code).toBe(0);

  expect((await device.database()).get('depotd')?.version).toBe('2.0-r1');
  expect(await device.read(CONFIGURATION)).toContain('# mine');
  for (const path of STATE) expect(await device.read(path), path).toBe('kept');
  expect(await readdir(join(device.root, 'etc/rc.d'))).toEqual(['S99depotd']);
});

test('while an upgrade replaces the files, a hook stands ready for the case that power fails', async () => {
  const device = await startDevice();
  await device.opkg('install', 'depotd');
  offer(device, '2.0', {
    preinst: '#!/bin/sh\ncp "$PKG_ROOT/etc/rc.d/S96depotd-upgrade" "$PKG_ROOT/tmp/hook"\n',
  });
  await device.opkg('update');

  await device.opkg('upgrade', 'depotd');

  expect(await device.read('tmp/hook')).toBe(
    await device.read('usr/lib/depotd/resume-self-upgrade'),
  );
  expect(await device.read('etc/rc.d/S96depotd-upgrade')).toBeUndefined();
});

test("opkg's --force-reinstall keeps the password and the records, though it removes the package first", async () => {
  const device = await startDevice();
  await device.opkg('install', 'depotd');
  await layState(device);

  expect((await device.opkg('install', '--force-reinstall', 'depotd')).code).toBe(0);

  for (const path of STATE) expect(await device.read(path), path).toBe('kept');
});

test('what an upgrade of depotd itself has kept survives a removal in its midst', async () => {
  const device = await startDevice();
  await device.opkg('install', 'depotd');
  await lay(device, 'etc/depotd/self-upgrade/pending');

  await device.opkg('remove', 'depotd');

  expect(await device.read('etc/depotd/self-upgrade/pending')).toBe('kept');
});

test("a private Node is enough where the feed has none; with both on offer the feed's comes", async () => {
  const without = await startDevice({ nodes: [privateNode()] });
  await without.opkg('install', 'depotd');
  expect([...(await without.database()).keys()]).toEqual(
    expect.arrayContaining(['depotd', 'depotd-node']),
  );

  const withBoth = await startDevice({ nodes: [privateNode(), feedNode()] });
  await withBoth.opkg('install', 'depotd');
  expect((await withBoth.database()).has('node')).toBe(true);
  expect((await withBoth.database()).has('depotd-node')).toBe(false);
});

test('a private Node that was installed first is taken, and cannot be removed under depotd', async () => {
  const device = await startDevice({ nodes: [privateNode(), feedNode()] });
  await device.opkg('install', 'depotd-node');
  await device.opkg('install', 'depotd');
  expect((await device.database()).has('node')).toBe(false);

  expect((await device.opkg('remove', 'depotd-node')).code).not.toBe(0);
  expect(await device.read('usr/lib/depotd/node')).toBe('a program');
});

test('a Node of the feed that is too old is refused before anything is installed', async () => {
  const device = await startDevice({ nodes: [feedNode('18.20.4-r1')] });

  expect((await device.opkg('install', 'depotd')).code).not.toBe(0);

  expect((await device.database()).has('depotd')).toBe(false);
});

async function startDevice({
  nodes = [feedNode()],
}: { nodes?: FeedPackage[] } = {}): Promise<Device> {
  const tools = TOOLS.map((name) => simplePackage(name));
  const device = await createDevice({ packages: [...nodes, ...tools, depotd('1.0')] });
  onTestFinished(() => device.close());
  await device.opkg('update');
  return device;
}

/** Another version in the feed, whatever else it had. */
function offer(device: Device, version: string, scripts: Record<string, string> = {}): void {
  const source = depotd(version);
  device.feed.publish([
    feedNode(),
    ...TOOLS.map((name) => simplePackage(name)),
    { ...source, scripts: { ...source.scripts, ...scripts } },
  ]);
}

function depotd(version: string): FeedPackage {
  return toSource(openwrtPackage({ version, modifiedAt: 1_700_000_000 }));
}

function feedNode(version = '20.20.2-r1'): FeedPackage {
  return simplePackage('node', { version });
}

function privateNode(): FeedPackage {
  const binary = {
    version: '20.20.2',
    architecture: 'all',
    depends: ['libc'],
    content: Buffer.from('a program'),
    libraries: [],
    licence: 'a licence',
  };
  return toSource(nodePackage(binary, { modifiedAt: 1_700_000_000 }));
}

function toSource({ control, files, conffiles, scripts }: PackageContents): FeedPackage {
  // The programs are long, and nobody runs them here.
  const short = Object.entries(files).map(
    ([path, file]) => [path, /\.[cm]js$/.test(path) ? 'a program' : file] as const,
  );
  const {
    Package: name = '',
    Version: version = '',
    Architecture: architecture = '',
    ...described
  } = control;
  const fields = Object.fromEntries(
    Object.entries(described).filter(([field]) => field !== 'Installed-Size'),
  );
  return {
    name,
    version,
    architecture,
    fields,
    files: Object.fromEntries(short),
    ...(conffiles && { conffiles }),
    ...(scripts && { scripts }),
  };
}

async function layState(device: Device): Promise<void> {
  for (const path of STATE) await lay(device, path);
}

async function lay(device: Device, path: string): Promise<void> {
  await mkdir(join(device.root, path, '..'), { recursive: true });
  await writeFile(join(device.root, path), 'kept');
}

/**
 * Every path below the root, but for what opkg keeps for itself; `var` is another name of `tmp`.
 */
async function treeOf({ root }: Device): Promise<string[]> {
  const paths = await readdir(root, { recursive: true });
  const own = /^(usr\/lib\/opkg\/status|tmp\/opkg-lists|tmp\/usr|tmp\/lock\/opkg|var\/)/;
  return paths.filter((path) => !own.test(path)).sort();
}
