import { createHash } from 'node:crypto';

import {
  createApk as packApk,
  type Apk as PackedApk,
  type ApkScript,
} from '../../../packaging/apk.ts';
import {
  installedBytes,
  type PackageFile,
  type PackageFiles,
} from '../../../packaging/package-files.ts';
import { MODIFIED_AT } from '../tar.ts';

/** A package for apk, as OpenWrt's builder describes it. */
export interface ApkSource {
  name: string;
  version: string;
  /** Default `noarch`. */
  architecture?: string;
  description?: string;
  licence?: string;
  /** The source package, such as `feeds/lab/demo-app`; packages of one may share files. */
  origin?: string;
  depends?: readonly string[];
  provides?: readonly string[];
  replaces?: readonly string[];
  /** Of several that provide a name without a version, the one with the highest is taken. */
  providerPriority?: number;
  installIf?: readonly string[];
  /** Folders, as patterns; the script `trigger` is told which changed. */
  triggers?: readonly string[];
  /** Absolute paths on the device. */
  files?: Readonly<Record<string, PackageFile>>;
  conffiles?: readonly string[];
  scripts?: Readonly<Partial<Record<ApkScript, string>>>;
}

export interface Apk extends PackedApk {
  source: ApkSource;
  fileName: string;
  /** All files that it brings, those included that OpenWrt's builder adds. */
  files: PackageFiles;
}

/** Above this, compressing would cost more than it is worth to a test. */
const COMPRESSED_BELOW_BYTES = 1024 ** 2;

const packedBefore = new WeakMap<ApkSource, Apk>();

/** The same source always gives the same bytes. */
export function createApk(source: ApkSource): Apk {
  const apk = packedBefore.get(source) ?? pack(source);
  packedBefore.set(source, apk);
  return apk;
}

function pack(source: ApkSource): Apk {
  const files = { ...source.files, ...recordsOf(source) };
  const packed = packApk(
    {
      info: [...infoOf(source)],
      files,
      modifiedAt: MODIFIED_AT,
      ...(source.scripts && { scripts: source.scripts }),
    },
    { compression: installedBytes(files) < COMPRESSED_BELOW_BYTES ? 6 : 0 },
  );
  return { ...packed, source, files, fileName: `${source.name}-${source.version}.apk` };
}

function infoOf(source: ApkSource): [key: string, value: string][] {
  const { replaces = [], triggers = [], installIf = [], providerPriority } = source;
  return [
    ['pkgname', source.name],
    ['pkgver', source.version],
    ['pkgdesc', describe(source)],
    ['url', `https://example.invalid/${source.name}`],
    ['arch', source.architecture ?? 'noarch'],
    ['license', source.licence ?? 'MIT'],
    ['origin', source.origin ?? `feeds/lab/${source.name}`],
    ...(source.depends ?? []).map((name): [string, string] => ['depend', name]),
    ...(source.provides ?? []).map((name): [string, string] => ['provides', name]),
    ...replaces.map((name): [string, string] => ['replaces', name]),
    ...(installIf.length > 0 ? [['install_if', installIf.join(' ')] as [string, string]] : []),
    ...(triggers.length > 0 ? [['triggers', triggers.join(' ')] as [string, string]] : []),
    ...(providerPriority === undefined
      ? []
      : [['provider_priority', String(providerPriority)] as [string, string]]),
  ];
}

export function describe(source: ApkSource): string {
  return source.description ?? `${source.name} test package`;
}

/** What OpenWrt's builder adds for its own functions and for sysupgrade. */
function recordsOf({ name, files = {}, conffiles = [] }: ApkSource): PackageFiles {
  const records = `/lib/apk/packages/${name}`;
  const paths = Object.keys(files).toSorted();
  const sums = conffiles.map((path) => `${path} ${sha256(contentOf(files[path]))}\n`);
  return {
    [`${records}.list`]: paths.map((path) => `${path}\n`).join(''),
    ...(conffiles.length > 0 && {
      [`${records}.conffiles`]: conffiles.map((path) => `${path}\n`).join(''),
      [`${records}.conffiles_static`]: sums.join(''),
    }),
  };
}

function contentOf(file: PackageFile | undefined): string | Buffer {
  if (file === undefined || typeof file === 'string') return file ?? '';
  return 'target' in file ? file.target : file.content;
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
