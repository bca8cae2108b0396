import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { readRuntime } from '../../packaging/node-runtime.ts';
import { readPackageFile } from '../../src/package-management/apk/package-file/apk-file.ts';
import { runCommand, type Outcome } from '../device/command.ts';
import { REPOSITORY } from '../source-tree.ts';
import { bundledProgram } from '../support/bundled-program.ts';
import { createElf } from './elf-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MADE_AT = 1_712_345_678;
const { version: VERSION } = JSON.parse(
  await readFile(join(REPOSITORY, 'package.json'), 'utf8'),
) as { version: string };
const IPK = `depotd_${VERSION}-r1_all.ipk`;
const OF_LUCI = ['luci-app-depotd', 'luci-i18n-depotd-zh-cn', 'luci-i18n-depotd-zh-tw'];
const LUCI = OF_LUCI.map((name) => `${name}_${VERSION}-r1_all.ipk`);
const NODE_APK = 'depotd-node-20.20.2-r1.apk';
const APKS = [`depotd-${VERSION}-r1.apk`, ...OF_LUCI.map((name) => `${name}-${VERSION}-r1.apk`)];
const THIRD_PARTY = join(REPOSITORY, 'dist/THIRD-PARTY-LICENSES.txt');
const DEB = `depotd_${VERSION}-r1_all.deb`;

let folder: string;
let node: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-packages-'));
  node = join(folder, 'node-for-musl');
  await writeFile(node, createElf());
  expect(await makePackages({ out: join(folder, 'dist'), args: ['--node', node] })).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^depotd: no licence lies beside .*\n$/) as string,
  });
  return () => rm(folder, { recursive: true });
});

test('the same sources give the same bytes, whoever packs them and where', async () => {
  await makePackages({
    out: join(folder, 'again'),
    args: ['--node', node],
    env: { TZ: 'Asia/Tokyo', LANG: 'C', HOME: '/nonexistent' },
  });

  const names = await readdir(join(folder, 'dist'));
  expect(names.sort()).toEqual(
    [DEB, IPK, ...LUCI, 'depotd-node_20.20.2-r1_x86_64.ipk', ...APKS, NODE_APK].sort(),
  );
  for (const name of names) {
    expect(
      (await readFile(join(folder, 'dist', name))).equals(
        await readFile(join(folder, 'again', name)),
      ),
      name,
    ).toBe(true);
  }
});

test('every file in them has the time that SOURCE_DATE_EPOCH gives, and belongs to root', async () => {
  const open = await unpack(IPK);
  for (const archive of ['package', 'data.tar.gz', 'control.tar.gz']) {
    const lines = await open.list(archive);
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => !/^\S+ 0\/0 +\d+ 2024-04-05 19:34:38 /.test(line))).toEqual([]);
  }
});

test("the OpenWrt package holds the programs, the init script, the configuration and what a firmware's upgrade keeps", async () => {
  const files = (await (await unpack(IPK)).list('data.tar.gz'))
    .filter((line) => !line.startsWith('d'))
    .map((line) => line.replace(/ 0\/0 .* /, ' '));
  expect(files).toEqual([
    '-rw------- ./etc/config/depotd',
    '-rwxr-xr-x ./etc/init.d/depotd',
    '-rwxr-xr-x ./etc/uci-defaults/80-depotd',
    '-rw-r--r-- ./lib/upgrade/keep.d/depotd',
    '-rwxr-xr-x ./usr/bin/depotctl',
    '-rw-r--r-- ./usr/lib/depotd/depotctl.mjs',
    '-rw-r--r-- ./usr/lib/depotd/depotd.cjs',
    '-rw-r--r-- ./usr/lib/depotd/depotd.mjs',
    '-rwxr-xr-x ./usr/lib/depotd/reload',
    '-rwxr-xr-x ./usr/lib/depotd/resume-self-upgrade',
    '-rw-r--r-- ./usr/lib/depotd/start.cjs',
    '-rwxr-xr-x ./usr/lib/depotd/uhttpd-handler',
    '-rwxr-xr-x ./usr/sbin/depotd',
    '-rw-r--r-- ./usr/share/bash-completion/completions/depotctl',
    '-rw-r--r-- ./usr/share/licenses/depotd/LICENSE',
    '-rw-r--r-- ./usr/share/licenses/depotd/THIRD-PARTY-LICENSES.txt',
    '-rw-r--r-- ./usr/share/rpcd/acl.d/depotd.json',
    '-rw-r--r-- ./usr/share/rpcd/ucode/depotd.uc',
    '-rw-r--r-- ./usr/share/ucode/depotd/answer.uc',
    '-rw-r--r-- ./usr/share/ucode/depotd/http.uc',
    '-rw-r--r-- ./usr/share/ucode/depotd/istore.uc',
    '-rw-r--r-- ./usr/share/ucode/depotd/istore_path.uc',
    '-rw-r--r-- ./usr/share/ucode/depotd/relay.uc',
    '-rw-r--r-- ./usr/share/ucode/depotd/uhttpd.uc',
    '-rwxr-xr-x ./www/cgi-bin/panel',
  ]);
});

test("it says what it needs, and takes less than 1.5 MB of the device's flash", async () => {
  const control = await (await unpack(IPK)).text('control.tar.gz', './control');
  expect(control).toMatch(
    new RegExp(
      `^Package: depotd\nVersion: ${VERSION}-r1\nDepends: libc, node \\(>= 20\\.19\\), rsync, script-utils, lsblk, blkid, ucode, ucode-mod-fs, ucode-mod-socket, ucode-mod-uloop\nLicense: MIT\n`,
    ),
  );
  expect(control).toContain('\nArchitecture: all\n');
  const [, size] = /\nInstalled-Size: (\d+)\n/.exec(control) ?? [];
  expect(Number(size)).toBeGreaterThan(100_000);
  expect(Number(size)).toBeLessThan(1_500_000);
});

test('each package of ours brings the licence', async () => {
  const licence = await readFile(join(REPOSITORY, 'LICENSE'), 'utf8');
  for (const name of [IPK, ...LUCI]) {
    const path = `./usr/share/licenses/${name.replace(/_.*/, '')}/LICENSE`;
    expect(await (await unpack(name)).text('data.tar.gz', path), name).toBe(licence);
  }
  const out = await temporaryFolder();
  await runCommand(['dpkg-deb', '--extract', join(folder, 'dist', DEB), out]);
  expect(await readFile(join(out, 'usr/share/doc/depotd/copyright'), 'utf8')).toBe(licence);
});

test('each package with programs in it brings the licences of what they contain', async () => {
  const [name, text] = ['THIRD-PARTY-LICENSES.txt', await readFile(THIRD_PARTY, 'utf8')];
  const open = await unpack(IPK);
  expect(await open.text('data.tar.gz', `./usr/share/licenses/depotd/${name}`)).toBe(text);
  const { stdout } = await runCommand([
    'sh',
    '-c',
    'dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/share/doc/depotd/$2"',
    'sh',
    join(folder, 'dist', DEB),
    name,
  ]);
  expect(stdout).toBe(text);
});

test('the private runtime brings the licence that lies beside it or is named, and else says where it is', async () => {
  const { text } = await unpack('depotd-node_20.20.2-r1_x86_64.ipk');
  const packed = await text('data.tar.gz', './usr/share/licenses/depotd-node/LICENSE');
  expect(packed).toContain('nodejs/node/v20.20.2/LICENSE');
  expect(packed).toBe(readRuntime(node, {}).licence);

  const release = join(folder, 'release');
  await mkdir(join(release, 'bin'), { recursive: true });
  await copyFile(node, join(release, 'bin/node'));
  await writeFile(join(release, 'LICENSE'), 'Node.js is licensed for use as follows: …\n');
  const licence = 'Node.js is licensed for use as follows: …\n';
  expect(readRuntime(join(release, 'bin/node'), {}).licence).toBe(licence);
  const licencePath = join(release, 'LICENSE');
  expect(readRuntime(node, { licencePath }).licence).toBe(licence);

  const wrong = ['--node', node, '--node-license', join(REPOSITORY, 'LICENSE')];
  expect(await makePackages({ out: join(folder, 'refused'), args: wrong })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('it is not the licence of Node.js') as string,
  });
});

test('the private runtime stands for the package that depotd needs', async () => {
  const open = await unpack('depotd-node_20.20.2-r1_x86_64.ipk');
  expect(await open.text('control.tar.gz', './control')).toMatch(
    /^Package: depotd-node\nVersion: 20\.20\.2-r1\nDepends: libc, libstdcpp, libgcc\nProvides: node\n[^]*\nArchitecture: x86_64\n/,
  );
  expect((await open.list('data.tar.gz')).join('\n')).toMatch(
    /^-rwxr-xr-x .* \.\/usr\/lib\/depotd\/node$/m,
  );
});

test('the packages for apk hold what those for opkg hold, and the list of it', async () => {
  for (const [index, name] of [IPK, ...LUCI].entries()) {
    const open = await unpack(name);
    const files = (await open.list('data.tar.gz'))
      .filter((line) => !line.startsWith('d'))
      .map((line) => line.replace(/^.* \.\//, ''));
    const path = join(folder, 'dist', APKS[index] ?? '');
    const apk = await readPackageFile(path, 10_000_000);
    const isRecord = (file: string): boolean => file.startsWith('lib/apk/packages/');
    expect(apk).toMatchObject({ name: name.replace(/_.*/, ''), version: `${VERSION}-r1` });
    expect(apk.files.filter((file) => !isRecord(file)).sort()).toEqual(files.sort());
    expect(apk.files).toContain(`lib/apk/packages/${apk.name}.list`);
    expect(apk.files).toContain(`usr/share/licenses/${apk.name}/LICENSE`);
  }
});

test("the packages for apk say what they need in apk's words", async () => {
  const info = await infoOf(APKS[0] ?? '');
  expect(info).toContain(`pkgname = depotd\npkgver = ${VERSION}-r1\n`);
  expect(info).toContain('\narch = noarch\n');
  expect(info).toContain('\ndepend = libc\ndepend = node\ndepend = rsync\n');
  const runtime = await infoOf(NODE_APK);
  expect(runtime).toContain('\narch = x86_64\n');
  expect(runtime).toContain('\ndepend = libc\ndepend = libstdcpp6\ndepend = libgcc1\n');
  expect(runtime).toContain('\nprovides = node\nprovider_priority = 100\n');
});

test('dpkg reads the Debian package', async () => {
  const deb = join(folder, 'dist', DEB);
  expect((await runCommand(['dpkg-deb', '--field', deb])).stdout).toMatch(
    /^Package: depotd\n[^]*\nDepends: nodejs \(>= 20\.19\), /,
  );
  const { code, stdout } = await runCommand(['dpkg-deb', '--contents', deb]);
  expect(code).toBe(0);
  for (const path of [
    './etc/init.d/depotd',
    './usr/lib/systemd/system/depotd-resume.service',
    './usr/sbin/depotd',
    './usr/share/doc/depotd/copyright',
    './usr/share/man/man8/depotd.8.gz',
    './usr/share/man/zh_CN/man1/depotctl.1.gz',
    './usr/share/man/zh_TW/man8/depotd.8.gz',
  ]) {
    expect(stdout).toContain(` ${path}\n`);
  }
});

test('a Node that is none makes no package at all, and is told from in one line', async () => {
  const out = join(folder, 'refused');
  const { code, stdout, stderr } = await makePackages({ out, args: ['--node', '/bin/sh'] });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^depotd: cannot pack \/bin\/sh: .*\n$/);
  await expect(readdir(out)).rejects.toThrow('ENOENT');
});

test('a time that is none is refused', async () => {
  const { code, stderr } = await makePackages({
    out: join(folder, 'refused'),
    env: { SOURCE_DATE_EPOCH: 'yesterday' },
  });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'depotd: cannot use SOURCE_DATE_EPOCH yesterday: Unix seconds are expected\n',
  });
});

async function makePackages({
  out,
  args = [],
  env = {},
}: {
  out: string;
  args?: string[];
  env?: NodeJS.ProcessEnv;
}): Promise<Outcome> {
  const program = await bundledProgram(join(REPOSITORY, 'packaging/package.ts'));
  return runCommand([process.execPath, program, '--out', out, ...args], {
    cwd: REPOSITORY,
    env: { ...process.env, SOURCE_DATE_EPOCH: String(MADE_AT), ...env },
  });
}

/** .PKGINFO stands first. GNU's tar calls the end of the first archive a fault. */
async function infoOf(name: string): Promise<string> {
  const words = ['tar', '-xzOf', join(folder, 'dist', name), '.PKGINFO'] as const;
  return (await runCommand(words)).stdout;
}

/** An .ipk taken apart into a folder of its own. */
async function unpack(name: string): Promise<{
  list: (archive: string) => Promise<string[]>;
  text: (archive: string, member: string) => Promise<string>;
}> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'package'), await readFile(join(folder, 'dist', name)));
  const tar = async (...args: string[]): Promise<string> =>
    (await runCommand(['tar', ...args], { cwd, env: { ...process.env, TZ: 'UTC' } })).stdout;
  await tar('-xzf', 'package');
  return {
    list: async (archive) =>
      (await tar('--numeric-owner', '--full-time', '-tvzf', archive))
        .split('\n')
        .filter((line) => line !== ''),
    text: (archive, member) => tar('-xzOf', archive, member),
  };
}
