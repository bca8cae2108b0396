import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { depotdApk, luciApk, plainApk, type ApkPackage } from '../../packaging/apk-packages.ts';
import { createApk } from '../../packaging/apk.ts';
import type { PackageContents } from '../../packaging/ipk.ts';
import { luciPackages } from '../../packaging/luci-packages.ts';
import type { PackageFiles } from '../../packaging/package-files.ts';
import { nodePackage, openwrtPackage } from '../../packaging/packages.ts';
import { createApkDevice, type ApkDevice } from '../device/apk-device/apk-device.ts';
import type { ApkFeedPackage } from '../device/apk-device/apk-index.ts';
import type { Outcome } from '../device/command.ts';
import { CONFIGURATION, stateFiles, TOOLS } from './installed-files.ts';

/** Libraries bear their ABI version in their names. */
const LIBRARIES = ['libgcc1', 'libstdcpp6'];
/** apk removes a folder in which nobody else has something; on a device others have. */
const OTHERS: PackageFiles = Object.fromEntries(
  ['etc/config', 'etc/init.d', 'etc/uci-defaults', 'usr/bin', 'usr/sbin', 'usr/share'].map(
    (folder) => [`/${folder}/other`, ''],
  ),
);
const HOOK = 'etc/rc.d/S96depotd-upgrade';
const STATE = stateFiles('apk');

test('installing brings the programs, enables the service and fetches what is needed', async () => {
  const on = await startDevice();

  const add = await on.add(depotd('1.0'), privateNode());

  expect(add).toMatchObject({ code: 0, stderr: '' });
  expect(await readdir(join(on.device.root, 'usr/lib/depotd'))).toEqual([
    'depotctl.mjs',
    'depotd.cjs',
    'depotd.mjs',
    'node',
    'reload',
    'resume-self-upgrade',
    'start.cjs',
    'uhttpd-handler',
  ]);
  expect(await readdir(join(on.device.root, 'etc/rc.d'))).toEqual(['S99depotd']);
  const database = await on.device.database();
  expect(database.get('depotd')).toMatchObject({ version: '1.0-r1' });
  expect([...database.keys()]).toEqual(expect.arrayContaining([...TOOLS, ...LIBRARIES]));
});

test('every file on the device is the one that the package says it is', async () => {
  const on = await startDevice();
  await on.add(depotd('1.0'), privateNode());

  expect(await on.device.apk('audit', '--system')).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('without any Node depotd is not installed, and apk names what is missing', async () => {
  const on = await startDevice();

  const add = await on.add(depotd('1.0'));

  expect(add.code).not.toBe(0);
  expect(add.stderr).toContain('node (no such package)');
  expect((await on.device.database()).has('depotd')).toBe(false);
});

test('the private Node goes in alone, first, and cannot be removed under depotd', async () => {
  const on = await startDevice();
  expect(await on.add(privateNode())).toMatchObject({ code: 0, stderr: '' });
  expect(await on.add(depotd('1.0'))).toMatchObject({ code: 0, stderr: '' });

  await on.device.apk('del', 'depotd-node');

  expect((await on.device.database()).has('depotd-node')).toBe(true);
  expect(await on.device.read('usr/lib/depotd/node')).toBe('a program');
});

test('after a removal the device is as it was before, to the last folder', async () => {
  const on = await startDevice();
  await on.device.apk('add', ...TOOLS, ...LIBRARIES);
  const before = await treeOf(on.device);
  await on.add(depotd('1.0'), privateNode());
  await layState(on.device);

  const removal = await on.device.apk('del', 'depotd', 'depotd-node');

  expect(removal).toMatchObject({ code: 0, stderr: '' });
  expect(await treeOf(on.device)).toEqual(before);
});

test('a removal leaves a configuration that was changed, and nothing else', async () => {
  const on = await startDevice();
  await on.device.apk('add', ...TOOLS, ...LIBRARIES);
  const before = await treeOf(on.device);
  await on.add(depotd('1.0'), privateNode());
  await appendFile(join(on.device.root, CONFIGURATION), '# mine\n');
  await on.add(depotd('2.0'));
  await layState(on.device);

  await on.device.apk('del', 'depotd', 'depotd-node');

  expect(await treeOf(on.device)).toEqual([...before, CONFIGURATION].sort());
  expect(await on.device.read(CONFIGURATION)).toContain('# mine');
});

test('an upgrade keeps a changed configuration, the new one beside it, and all records', async () => {
  const on = await startDevice();
  await on.add(depotd('1.0'), privateNode());
  await layState(on.device);
  await appendFile(join(on.device.root, CONFIGURATION), '# mine\n');

  expect(await on.add(depotd('2.0'))).toMatchObject({ code: 0, stderr: '' });

  expect((await on.device.database()).get('depotd')?.version).toBe('2.0-r1');
  expect(await on.device.read(CONFIGURATION)).toContain('# mine');
  expect(await on.device.read(`${CONFIGURATION}.apk-new`)).not.toContain('# mine');
  for (const path of STATE) expect(await on.device.read(path), path).toBe('kept');
  expect(await readdir(join(on.device.root, 'etc/rc.d'))).toEqual(['S99depotd']);
});

test('while an upgrade replaces the files, a hook stands ready for the case that power fails', async () => {
  const on = await startDevice();
  await on.add(depotd('1.0'), privateNode());
  const upgrade = depotd('2.0');
  const { scripts = {} } = upgrade.contents;
  const look = `cp "$IPKG_INSTROOT/${HOOK}" "$IPKG_INSTROOT/tmp/hook"\n`;
  const looking = (scripts['post-upgrade'] ?? '').replace(/^#!.*\n/, `$&${look}`);

  await on.add({
    ...upgrade,
    contents: { ...upgrade.contents, scripts: { ...scripts, 'post-upgrade': looking } },
  });

  expect(await on.device.read('tmp/hook')).toBe(
    await on.device.read('usr/lib/depotd/resume-self-upgrade'),
  );
  expect(await on.device.read(HOOK)).toBeUndefined();
});

test('after an upgrade the service is restarted, since what runs is the old program', () => {
  const { 'post-install': install, 'post-upgrade': upgrade } = depotd('1.0').contents.scripts ?? {};

  expect(install).toMatch(/^#!\/bin\/sh\n(?!export PKG_UPGRADE)/);
  expect(upgrade).toMatch(/^#!\/bin\/sh\nexport PKG_UPGRADE=1\n/);
  expect(upgrade).toContain('/etc/init.d/depotd restart\n');
});

test("nothing of it knows opkg's reinstallation, and sysupgrade learns what to keep", () => {
  const { scripts = {}, files } = depotd('1.0').contents;

  expect(scripts['post-deinstall']).not.toContain('is_reinstall');
  expect(files['/lib/apk/packages/depotd.conffiles']).toBe('/etc/config/depotd\n');
  expect(files['/lib/apk/packages/depotd.conffiles_static']).toMatch(
    /^\/etc\/config\/depotd [0-9a-f]{64}\n$/,
  );
});

test("LuCI's packages go in and out with it, and have LuCI read its menu anew", async () => {
  const on = await startDevice([{ name: 'luci-base', version: '1.0-r1' }]);
  const luci = luciPackages({ version: '1.0', modifiedAt: 1_700_000_000 }).map(luciApk);

  expect(await on.add(depotd('1.0'), privateNode(), ...luci)).toMatchObject({
    code: 0,
    stderr: '',
  });
  expect(await on.device.read('usr/share/luci/menu.d/luci-app-depotd.json')).toContain('depotd');
  for (const { contents } of luci) {
    for (const script of ['post-install', 'post-upgrade', 'post-deinstall'] as const) {
      expect(contents.scripts?.[script], script).toContain('rm -f /tmp/luci-indexcache*');
    }
  }

  await on.device.apk('del', ...luci.map(({ fileName }) => fileName.replace(/-1\.0-r1.*/, '')));
  expect(await on.device.read('usr/share/luci/menu.d/luci-app-depotd.json')).toBeUndefined();
});

interface Started {
  device: ApkDevice;
  /** Installs package files. */
  add: (...packages: readonly ApkPackage[]) => Promise<Outcome>;
}

async function startDevice(further: readonly ApkFeedPackage[] = []): Promise<Started> {
  const needed = [...TOOLS, ...LIBRARIES].map((name) => ({
    name,
    version: '1.0-r1',
    ...(name === 'rsync' && { files: OTHERS }),
  }));
  const device = await createApkDevice({ packages: [...needed, ...further] });
  onTestFinished(() => device.close());
  await device.apk('update');
  const folder = join(device.root, '../packages');
  await mkdir(folder);
  return {
    device,
    add: async (...packages) => {
      const paths = packages.map(({ fileName }) => join(folder, fileName));
      for (const [index, { contents }] of packages.entries()) {
        await writeFile(paths[index] ?? '', createApk(contents).bytes);
      }
      return device.apk('add', '--allow-untrusted', ...paths);
    },
  };
}

function depotd(version: string): ApkPackage {
  return depotdApk(withShortPrograms(openwrtPackage({ version, modifiedAt: 1_700_000_000 })));
}

function privateNode(): ApkPackage {
  const binary = {
    version: '20.20.2',
    architecture: 'all',
    depends: ['libc', 'libstdcpp', 'libgcc'],
    content: Buffer.from('a program'),
    libraries: [],
    licence: 'a licence',
  };
  return plainApk(nodePackage(binary, { modifiedAt: 1_700_000_000 }));
}

/** The programs are long, and nobody runs them here. */
function withShortPrograms(contents: PackageContents): PackageContents {
  const short = Object.entries(contents.files).map(
    ([path, file]) => [path, /\.[cm]js$/.test(path) ? 'a program' : file] as const,
  );
  return { ...contents, files: Object.fromEntries(short) };
}

async function layState({ root }: ApkDevice): Promise<void> {
  for (const path of STATE) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), 'kept');
  }
}

/**
 * Every path below the root, but for what apk keeps for itself; `var` is another name of `tmp`.
 */
async function treeOf({ root }: ApkDevice): Promise<string[]> {
  const paths = await readdir(root, { recursive: true });
  return paths
    .filter((path) => !/^(lib\/apk\/db|tmp\/cache|tmp\/log\/apk|var\/)/.test(path))
    .sort();
}
