import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { simpleApk } from '../device/apk-contract/start-apk-device.ts';
import { createApkDevice } from '../device/apk-device/apk-device.ts';
import { runCommand, type Outcome } from '../device/command.ts';
import { createDevice } from '../device/device.ts';
import { simplePackage } from '../device/packages/package-parts.ts';
import { TOOLS } from './installed-files.ts';
import { createWorks, filesIn, serve, type Works } from './released.ts';

/**
 * A feed as owners get it, and the package managers as devices have them: OPKG and APK name the
 * real ones, USIGN the program that opkg has signatures checked with.
 */
const { OPKG, APK, USIGN } = process.env;

let works: Works;
beforeAll(async () => {
  works = await createWorks();
  return () => works.close();
});

describe.runIf(OPKG !== undefined && USIGN !== undefined)('24.10 with opkg', () => {
  test('subscribe, install signed, upgrade by the manager, remove: nothing is left', async () => {
    const on = await startOpkg();
    const before = await filesIn(on.root);
    expect(await on.subscribe()).toMatchObject({ code: 0 });
    expect(await on.run('update')).toMatchObject({ code: 0 });

    const install = await on.run('install', 'depotd-keyring', 'luci-app-depotd');
    expect(install).toMatchObject({ code: 0 });
    expect(await on.installed()).toEqual(['depotd', 'depotd-keyring', 'luci-app-depotd']);

    await on.publish('99.0');
    expect(await on.run('update')).toMatchObject({ code: 0 });
    expect(await on.run('upgrade', 'depotd')).toMatchObject({ code: 0 });
    expect(await on.status()).toContain('Package: depotd\nVersion: 99.0-r1\n');

    expect(await on.run('remove', 'luci-app-depotd', 'depotd', 'depotd-keyring')).toMatchObject({
      code: 0,
    });
    expect(await on.subscribe('--undo')).toMatchObject({ code: 0 });
    expect(await on.left(before)).toEqual([]);
  });

  test.each(['list', 'package', 'signature', 'key'])('a wrong %s is refused', async (what) => {
    const on = await startOpkg();
    await on.subscribe();
    if (what !== 'package') {
      await on.spoil(what);
      await on.run('update');
      expect((await on.run('install', 'depotd')).code).not.toBe(0);
    } else {
      await on.run('update');
      await on.spoil(what);
      expect((await on.run('install', 'depotd')).code).not.toBe(0);
    }
    expect(await on.installed()).toEqual([]);
  });
});

describe.runIf(APK !== undefined)('25.12 with apk', () => {
  test('subscribe, install without --allow-untrusted, upgrade, remove: nothing is left', async () => {
    const on = await startApk();
    const before = await filesIn(on.root);
    expect(await on.subscribe()).toMatchObject({ code: 0 });
    expect(await on.run('update')).toMatchObject({ code: 0 });

    const add = await on.run('add', 'depotd-keyring', 'luci-app-depotd');
    expect(add).toMatchObject({ code: 0 });
    expect(await on.installed()).toEqual([
      'depotd',
      'depotd-keyring',
      'depotd-node',
      'luci-app-depotd',
    ]);
    expect((await on.run('audit', '--system')).stdout).toBe('');

    await on.publish('99.0');
    expect(await on.run('update')).toMatchObject({ code: 0 });
    expect(await on.run('upgrade')).toMatchObject({ code: 0 });
    expect(await on.status()).toContain('P:depotd\nV:99.0-r1\n');

    expect(await on.run('del', 'luci-app-depotd', 'depotd-keyring')).toMatchObject({ code: 0 });
    expect(await on.subscribe('--undo')).toMatchObject({ code: 0 });
    expect(await on.left(before)).toEqual([]);
  });

  test.each(['list', 'package', 'key'])('a wrong %s is refused', async (what) => {
    const on = await startApk();
    await on.subscribe();
    if (what !== 'package') await on.spoil(what);
    await on.run('update');
    if (what === 'package') await on.spoil(what);

    expect((await on.run('add', 'depotd')).code).not.toBe(0);

    // What it needs may be there by then.
    expect(await on.installed()).not.toContain('depotd');
  });

  test('a file of the release installs by itself for whoever has the key, and for nobody else', async () => {
    const on = await startApk();
    const [name = ''] = (await readdir(join(on.served, '25.12/x86_64'))).filter((file) =>
      file.startsWith('depotd-keyring'),
    );
    const file = join(on.served, '25.12/x86_64', name);
    expect((await on.run('add', file)).code).not.toBe(0);

    await on.subscribe();

    expect(await on.run('add', file)).toMatchObject({ code: 0 });
  });

  test('a key that was followed by another no longer counts once the keyring says so', async () => {
    const on = await startApk();
    const keys = join(works.folder, `keys-${on.root.replace(/\W/g, '')}`);
    await cp(works.keys, keys, { recursive: true });
    await works.makeKeys(join(keys, 'next'));
    await on.publish('2.0', keys);
    await on.subscribe();
    await on.run('update');
    expect(await on.run('add', 'depotd-keyring')).toMatchObject({ code: 0 });
    expect(await on.keys()).toHaveLength(2);

    for (const file of ['usign.key', 'apk.pem']) {
      await cp(join(keys, 'next', file), join(keys, file));
    }
    await rm(join(keys, 'next'), { recursive: true });
    await on.publish('3.0', keys);
    expect(await on.run('update')).toMatchObject({ code: 0 });
    expect(await on.run('upgrade')).toMatchObject({ code: 0 });
    expect(await on.keys()).toHaveLength(1);

    await on.publish('4.0', works.keys);
    expect((await on.run('update')).code).not.toBe(0);
  });
});

interface Subscriber {
  root: string;
  /** The folder of its feed. */
  served: string;
  subscribe: (...args: string[]) => Promise<Outcome>;
  run: (...args: string[]) => Promise<Outcome>;
  /** Names of depotd's packages that are there. */
  installed: () => Promise<string[]>;
  /** The manager's own record. */
  status: () => Promise<string>;
  /** Files of depotd's keys. */
  keys: () => Promise<string[]>;
  /** Another release in the place of the first. */
  publish: (version: string, keys?: string) => Promise<void>;
  /** Changes a byte in what is served, or the key that the device has. */
  spoil: (what: string) => Promise<void>;
  /** What is there that was not, the manager's own records aside. */
  left: (before: ReadonlyMap<string, Buffer>) => Promise<string[]>;
}

let count = 0;

interface Kind {
  root: string;
  run: Subscriber['run'];
  feed: string;
  keyFolder: string;
  record: string;
  names: RegExp;
  own: RegExp;
}

async function subscriber({
  root,
  run,
  feed,
  keyFolder,
  record,
  names,
  own,
}: Kind): Promise<Subscriber> {
  count += 1;
  const name = `served-${count}`;
  const served = join(works.folder, name);
  const publish = async (version: string, keys = works.keys): Promise<void> => {
    await rm(served, { recursive: true, force: true });
    const release = await works.release(name, { keys, args: ['--version', version] });
    expect(release).toMatchObject({ code: 0 });
  };
  await publish('1.0');
  const { url, close } = await serve(served);
  onTestFinished(close);
  const status = (): Promise<string> => readFile(join(root, record), 'utf8');
  const keys = async (): Promise<string[]> => {
    const known = await readdir(join(served, 'keys'));
    const isKey = (file: string): boolean => known.includes(file) || file.startsWith('depotd-');
    return (await readdir(join(root, keyFolder))).filter(isKey);
  };
  return {
    root,
    served,
    run,
    status,
    keys,
    publish,
    subscribe: (...args) =>
      runCommand(['sh', join(served, 'subscribe.sh'), ...(args.length === 0 ? [url] : args)], {
        env: { ...process.env, IPKG_INSTROOT: root },
      }),
    installed: async () =>
      [...(await status()).matchAll(names)].map(([, found = '']) => found).sort(),
    spoil: async (what) => {
      if (what === 'key') {
        const stranger = join(works.folder, `stranger-${count}`);
        await works.makeKeys(stranger);
        await publish('1.0', stranger);
        return;
      }
      const folder = join(served, feed);
      const files: Record<string, RegExp> = {
        list: /^(?:Packages\.gz|packages\.adb)$/,
        signature: /^Packages\.sig$/,
        package: /^depotd[-_]\d.*\.(?:ipk|apk)$/,
      };
      for (const file of await readdir(folder)) {
        if (files[what]?.test(file) !== true) continue;
        const bytes = await readFile(join(folder, file));
        const middle = Math.floor(bytes.length / 2);
        bytes.writeUInt8((bytes[middle] ?? 0) ^ 1, middle);
        await writeFile(join(folder, file), bytes);
      }
    },
    left: async (before) =>
      [...(await filesIn(root)).keys()].filter((path) => !before.has(path) && !own.test(path)),
  };
}

async function startOpkg(): Promise<Subscriber> {
  const packages = [
    ...['luci-base', ...TOOLS].map((name) => simplePackage(name)),
    simplePackage('node', { version: '20.20.2-r1' }),
  ];
  const device = await createDevice({ packages, isSigned: true });
  onTestFinished(() => device.close());
  const { root } = device;
  await writeRelease(root, '24.10.4');
  const own = await readFile(join(root, 'usr/sbin/opkg-key'), 'utf8');
  // As OpenWrt's own; the feed that the others come from has its checksum for its signature.
  await writeFile(
    join(root, 'usr/sbin/opkg-key'),
    `${own.trimEnd()} && exit 0\n( zcat "$3" || cat "$3" ) 2>/dev/null | ` +
      `${USIGN ?? 'usign'} -V -P '${root}/etc/opkg/keys' -q -x "$2" -m -\n`,
  );
  await device.opkg('update');
  await device.opkg('install', 'luci-base', 'node', ...TOOLS);
  return subscriber({
    root,
    run: (...args) => device.opkg(...args),
    feed: '24.10/x86_64',
    keyFolder: 'etc/opkg/keys',
    record: 'usr/lib/opkg/status',
    names: /^Package: (.*depotd.*)$/gm,
    own: /^(?:usr\/lib\/opkg\/|tmp\/)/,
  });
}

async function startApk(): Promise<Subscriber> {
  const names = ['luci-base', ...TOOLS, 'libgcc1', 'libstdcpp6'];
  const device = await createApkDevice({ packages: names.map((name) => simpleApk(name)) });
  onTestFinished(() => device.close());
  await writeRelease(device.root, '25.12.0');
  await device.apk('update');
  await device.apk('add', ...names);
  return subscriber({
    root: device.root,
    run: (...args) => device.apk(...args),
    feed: '25.12/x86_64',
    keyFolder: 'etc/apk/keys',
    record: 'lib/apk/db/installed',
    names: /^P:(.*depotd.*)$/gm,
    own: /^(?:lib\/apk\/db\/|tmp\/|etc\/apk\/world)/,
  });
}

function writeRelease(root: string, release: string): Promise<void> {
  return writeFile(
    join(root, 'etc/openwrt_release'),
    `DISTRIB_RELEASE='${release}'\nDISTRIB_ARCH='x86_64'\n`,
  );
}
