// `npm run package`: the packages of depotd in dist/; with `--node PATH` also that of a private
// Node for devices whose feed has none.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createDeb } from './deb.ts';
import { createIpk, type PackageContents } from './ipk.ts';
import { luciPackages } from './luci-packages.ts';
import { inspectNode } from './node-binary.ts';
import {
  debianPackage,
  nodePackage,
  openwrtPackage,
  REPOSITORY,
  type Release,
} from './packages.ts';
import { releaseTime } from './release-time.ts';

const USAGE = `usage: npm run package -- [--node PATH [--arch ARCH]] [--out FOLDER]

  --node PATH   a Node binary for musl: makes depotd-node_VERSION_ARCH.ipk, too
  --arch ARCH   OpenWrt's name of the architecture, where the binary fits several (opkg print-architecture)
  --out FOLDER  where the packages go (default dist)
`;

try {
  const { values } = parseArgs({
    options: {
      node: { type: 'string' },
      arch: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) process.stdout.write(USAGE);
  else makePackages(values);
} catch (error) {
  process.stderr.write(`depotd: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function makePackages({
  node,
  arch,
  out = join(REPOSITORY, 'dist'),
}: {
  node?: string | undefined;
  arch?: string | undefined;
  out?: string | undefined;
}): void {
  const release: Release = { version: readVersion(), modifiedAt: releaseTime(REPOSITORY) };
  // Looked at first, so that a wrong binary leaves nothing behind.
  const runtime =
    node === undefined ? undefined : { ...inspectNode(node, arch), content: readFileSync(node) };
  mkdirSync(out, { recursive: true });
  write(out, openwrtPackage(release), { suffix: 'ipk', create: createIpk });
  for (const contents of luciPackages(release)) {
    write(out, contents, { suffix: 'ipk', create: createIpk });
  }
  write(out, debianPackage(release), { suffix: 'deb', create: createDeb });
  if (runtime !== undefined) {
    write(out, nodePackage(runtime, release), { suffix: 'ipk', create: createIpk });
  }
}

/** opkg, apk and dpkg order numbers alike, but not what may stand behind them. */
function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    version: string;
  };
  if (!/^\d+(\.\d+)*$/.test(version)) {
    throw new Error(`cannot make packages of version ${version}: numbers and points are expected`);
  }
  return version;
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
  const bytes = create(contents);
  writeFileSync(path, bytes);
  process.stdout.write(`${path} ${bytes.length} bytes\n`);
}
