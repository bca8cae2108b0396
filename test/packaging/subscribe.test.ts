import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { runCommand, type Outcome } from '../device/command.ts';
import { createWorks, filesIn, serve, type Served, type Works } from './released.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const KEPT = 'lib/upgrade/keep.d/depotd-feed';
const WORLD = 'etc/apk/world';

let works: Works;
let feed: Served;

beforeAll(async () => {
  works = await createWorks();
  expect(await works.release('feed')).toMatchObject({ code: 0 });
  feed = await serve(join(works.folder, 'feed'));
  return async () => {
    await feed.close();
    await works.close();
  };
});

test('on 24.10 it writes the key, the list and what a firmware upgrade keeps, and says so', async () => {
  const on = await startDevice({ release: '24.10.4', architecture: 'aarch64_cortex-a53' });

  const { code, stdout, stderr } = await on.subscribe(feed.url);

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [key = ''] = await readdir(join(on.root, 'etc/opkg/keys'));
  const url = `${feed.url}/24.10/aarch64_cortex-a53`;
  expect(stdout).toBe(
    `OpenWrt 24.10, aarch64_cortex-a53, opkg: ${url}\nwrote /etc/opkg/keys/${key}\n` +
      'wrote /etc/opkg/depotd.conf\n' +
      'Now: opkg update && opkg install depotd-keyring luci-app-depotd\n',
  );
  expect(await on.read(`etc/opkg/keys/${key}`)).toBe(
    await readFile(join(works.folder, 'feed/keys', key), 'utf8'),
  );
  expect(await on.read('etc/opkg/depotd.conf')).toBe(`src/gz depotd ${url}\n`);
  expect(await on.read(KEPT)).toBe(`/${KEPT}\n/etc/opkg/keys/${key}\n/etc/opkg/depotd.conf\n`);
});

test('on 25.12 it writes those of apk, and ends the pin of a depotd that came as a file', async () => {
  const on = await startDevice({ release: '25.12.1', architecture: 'x86_64', isApk: true });
  await on.write(WORLD, 'base-files\ndepotd><Q1mzCYGRg9gr+1YE/EzpSo761L+7s=\nvim><Q1abc=\n');

  const { code, stdout } = await on.subscribe(`${feed.url}/`);

  expect(code).toBe(0);
  expect(stdout).toContain('unpinned depotd in /etc/apk/world: upgrades come from the feed\n');
  expect(await on.read(WORLD)).toBe('base-files\ndepotd\nvim><Q1abc=\n');
  expect(await on.read('etc/apk/repositories.d/depotd.list')).toBe(
    `${feed.url}/25.12/x86_64/packages.adb\n`,
  );
  expect(await readdir(join(on.root, 'etc/apk/keys'))).toEqual([
    expect.stringMatching(/^depotd-[0-9a-f]{8}\.pem$/),
  ]);
});

test('a second time changes nothing, and undo leaves the device as it was', async () => {
  for (const isApk of [false, true]) {
    const release = isApk ? '25.12.0' : '24.10.0';
    const on = await startDevice({ release, architecture: 'x86_64', isApk });
    await on.write('etc/opkg/keys/other', 'a key\n');
    const before = await filesIn(on.root);
    await on.subscribe(feed.url);
    const once = await filesIn(on.root);
    expect(once.size).toBe(before.size + 3);

    await on.subscribe(feed.url);
    expect(await filesIn(on.root)).toEqual(once);

    const undo = await on.subscribe('--undo');
    expect(undo).toMatchObject({ code: 0, stderr: '' });
    expect(undo.stdout).toContain(isApk ? 'apk del depotd-keyring' : 'opkg remove depotd-keyring');
    expect(await filesIn(on.root)).toEqual(before);
  }
});

test('undo follows no line of another\u2019s in its record out of the folders that it writes to', async () => {
  const on = await startDevice({ release: '24.10.0', architecture: 'x86_64' });
  await on.subscribe(feed.url);
  await on.write('etc/passwd', 'root\n');
  await on.write(KEPT, `/etc/passwd\n/etc/opkg/../passwd\n/${KEPT}\n`);

  await on.subscribe('--undo');

  expect(await on.read('etc/passwd')).toBe('root\n');
});

test.each([
  ['23.05.5', 'x86_64'],
  ['24.10.0', 'mips_24kc'],
])('what has no feed, %s on %s, is told, and nothing is written', async (release, architecture) => {
  const on = await startDevice({ release, architecture });
  const before = await filesIn(on.root);

  const { code, stderr } = await on.subscribe(feed.url);

  expect(code).toBe(1);
  expect(stderr).toContain('there is nothing for this release and architecture at');
  expect(await filesIn(on.root)).toEqual(before);
});

test('it knows its own address if the release was told, and asks for one else', async () => {
  await works.release('addressed', { args: ['--url', `${feed.url}/`] });
  const addressed = await readFile(join(works.folder, 'addressed/subscribe.sh'), 'utf8');
  expect(addressed).toContain(`url='${feed.url}'\n`);
  const on = await startDevice({ release: '24.10.0', architecture: 'x86_64' });
  expect(await on.subscribe()).toMatchObject({
    code: 1,
    stderr: 'depotd: cannot subscribe: give the address of the feed\n',
  });
  expect(await on.subscribe('--help')).toMatchObject({ code: 2 });
});

interface SubscribedDevice {
  root: string;
  subscribe: (...args: string[]) => Promise<Outcome>;
  read: (path: string) => Promise<string>;
  write: (path: string, text: string) => Promise<void>;
}

async function startDevice({
  release,
  architecture,
  isApk = false,
}: {
  release: string;
  architecture: string;
  isApk?: boolean;
}): Promise<SubscribedDevice> {
  const root = await temporaryFolder();
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  await write(
    'etc/openwrt_release',
    `DISTRIB_ID='OpenWrt'\nDISTRIB_RELEASE='${release}'\nDISTRIB_ARCH='${architecture}'\n`,
  );
  if (isApk) await write('lib/apk/db/installed', '');
  const script = join(works.folder, 'feed/subscribe.sh');
  return {
    root,
    subscribe: (...args) =>
      runCommand(['sh', script, ...args], { env: { ...process.env, IPKG_INSTROOT: root } }),
    read: (path) => readFile(join(root, path), 'utf8'),
    write,
  };
}
