import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

import { expect, onTestFinished } from 'vitest';

import { simpleApk } from '../device/apk-contract/start-apk-device.ts';
import { createApkDevice } from '../device/apk-device/apk-device.ts';
import { runCommand, type Outcome } from '../device/command.ts';
import type { DaemonDevice } from '../device/daemon-process.ts';
import { createDevice } from '../device/device.ts';
import { simplePackage } from '../device/packages/package-parts.ts';
import { TOOLS } from './installed-files.ts';
import { filesIn, serve, type Works } from './released.ts';

/** A device whose owner subscribes to a feed: the manager is the real one, if OPKG or APK names it. */
export interface Subscriber extends DaemonDevice {
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
  /** Makes a key that follows the one in use; gives the folder of both. */
  nextKey: () => Promise<string>;
  /** What is there that was not, and folders of depotd's, the manager's own records aside. */
  left: (before: ReadonlyMap<string, Buffer>) => Promise<string[]>;
}

let count = 0;

interface Kind extends DaemonDevice {
  works: Works;
  run: Subscriber['run'];
  feed: string;
  keyFolder: string;
  record: string;
  names: RegExp;
  own: RegExp;
}

async function subscriber({
  works,
  root,
  env,
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
    env,
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
    nextKey: async () => {
      const folder = join(works.folder, `keys-${name}`);
      await cp(works.keys, folder, { recursive: true });
      await works.makeKeys(join(folder, 'next'));
      return folder;
    },
    left: async (before) => {
      const folders = (await readdir(root, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isDirectory() && entry.name.includes('depotd'))
        .map(({ parentPath, name: folder }) => relative(root, join(parentPath, folder)));
      const files = [...(await filesIn(root)).keys()].filter((path) => !before.has(path));
      return [...folders, ...files].filter((path) => !own.test(path));
    },
  };
}

export async function startOpkg(works: Works): Promise<Subscriber> {
  const { USIGN = 'usign' } = process.env;
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
      `${USIGN} -V -P '${root}/etc/opkg/keys' -q -x "$2" -m -\n`,
  );
  await device.opkg('update');
  await device.opkg('install', 'luci-base', 'node', ...TOOLS);
  return subscriber({
    works,
    root,
    env: device.env,
    run: (...args) => device.opkg(...args),
    feed: '24.10/x86_64',
    keyFolder: 'etc/opkg/keys',
    record: 'usr/lib/opkg/status',
    names: /^Package: (.*depotd.*)$/gm,
    own: /^(?:usr\/lib\/opkg\/|tmp\/)/,
  });
}

export async function startApk(works: Works): Promise<Subscriber> {
  const names = ['luci-base', ...TOOLS, 'libgcc1', 'libstdcpp6'];
  const device = await createApkDevice({ packages: names.map((name) => simpleApk(name)) });
  onTestFinished(() => device.close());
  await writeRelease(device.root, '25.12.0');
  await device.apk('update');
  await device.apk('add', ...names);
  return subscriber({
    works,
    root: device.root,
    env: device.env,
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
