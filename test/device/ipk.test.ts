import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { awkwardPackages, tinyPackages } from './packages/awkward-packages.ts';
import { runCommand } from './command.ts';
import { createFeedFiles } from './feed-index.ts';
import { createIpk, type Ipk } from './ipk.ts';
import { appPackages } from './packages/packages.ts';

test('the same source gives the same bytes', () => {
  const [first, second] = [1, 2].map(() =>
    appPackages(1).map((source) => createIpk(source).sha256),
  );

  expect(first).toEqual(second);
});

test("a package holds what OpenWrt's builder puts into one, in its order", async () => {
  const { tar } = await unpack(findIpk('demo-app'));

  expect(await tar('-tzf', 'package.ipk')).toEqual([
    './debian-binary',
    './data.tar.gz',
    './control.tar.gz',
  ]);
  await tar('-xzf', 'package.ipk');
  expect(await tar('-tzf', 'control.tar.gz')).toEqual(
    ['', 'conffiles', 'control', 'postinst', 'postinst-pkg', 'postrm', 'prerm'].map(
      (name) => `./${name}`,
    ),
  );
  expect(
    (await tar('--numeric-owner', '-tvzf', 'data.tar.gz')).map((line) =>
      line.replace(/ +\d+ \d{4}-.* /, ' '),
    ),
  ).toEqual([
    'drwxr-xr-x 0/0 ./',
    'drwxr-xr-x 0/0 ./etc/',
    'drwxr-xr-x 0/0 ./etc/config/',
    '-rw-r--r-- 0/0 ./etc/config/demo-app',
    'drwxr-xr-x 0/0 ./etc/init.d/',
    '-rwxr-xr-x 0/0 ./etc/init.d/demo-app',
    'drwxr-xr-x 0/0 ./usr/',
    'drwxr-xr-x 0/0 ./usr/bin/',
    '-rwxr-xr-x 0/0 ./usr/bin/demo-app',
  ]);
});

test("a package says what it takes on the disk as OpenWrt's builder does: by GNU's archive", async () => {
  const { tar, sizeOf } = await unpack(findIpk('demo-app'));
  await tar('-xzf', 'package.ipk');
  await tar('-xzf', 'data.tar.gz', '--one-top-level=files');

  await tar('--format=gnu', '-C', 'files', '-cf', 'files.tar', '.');

  expect(await tar('-xzOf', 'control.tar.gz', './control')).toContain(
    `Installed-Size: ${await sizeOf('files.tar')}`,
  );
});

test('the index names every package with its file, size and checksum', () => {
  const packages = [...appPackages(2), ...awkwardPackages(), ...tinyPackages()];
  const files = createFeedFiles(packages);

  const stanzas = String(files.get('Packages')).split('\n\n');

  expect(stanzas).toHaveLength(packages.length + 1);
  for (const source of packages.filter(({ listing }) => listing === undefined)) {
    const { fileName, bytes, sha256 } = createIpk(source);
    const stanza = stanzas.find((text) => text.startsWith(`Package: ${source.name}\n`));
    expect(stanza).toContain(
      `\nFilename: ${fileName}\nSize: ${bytes.length}\nSHA256sum: ${sha256}\n`,
    );
    expect(files.get(fileName)?.equals(bytes)).toBe(true);
  }
});

test('no maintainer script names a path outside of the root', () => {
  const scripts = [1, 2]
    .flatMap((version) => [...appPackages(version as 1 | 2), ...awkwardPackages()])
    .flatMap((source) => Object.values(source.scripts ?? {}));

  const paths = scripts.flatMap(
    (script) => script.match(/(?<![\w}])\/(?!bin\/sh\b|dev\/null\b)[\w./]+/g) ?? [],
  );

  expect(paths).toEqual([]);
});

function findIpk(name: string): Ipk {
  const source = appPackages(1).find((candidate) => candidate.name === name);
  if (source === undefined) throw new Error(`cannot find ${name} among the packages`);
  return createIpk(source);
}

/** A folder with the package; runs tar in it and returns the lines it prints. */
async function unpack(ipk: Ipk): Promise<{
  tar: (...args: string[]) => Promise<string[]>;
  sizeOf: (file: string) => Promise<number>;
}> {
  const cwd = await mkdtemp(join(tmpdir(), 'depotd-ipk-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, 'package.ipk'), ipk.bytes);
  return {
    tar: async (...args) =>
      (await runCommand(['tar', ...args], { cwd })).stdout
        .split('\n')
        .filter((line) => line !== ''),
    sizeOf: async (file) => (await stat(join(cwd, file))).size,
  };
}
