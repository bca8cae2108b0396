import * as v from 'valibot';
import { managerName } from './manager-files.ts';
import { DEVICE_PATH } from '../../http/parameter-schemas.ts';
import { packageName } from '../../package-management/names.ts';

/** The version of a set's format (docs/reference/backup.md); its manifest names all files in it. */
export const FORMAT = 1;

export const MANIFEST = 'manifest.json';
export const MOST_MANIFEST_BYTES = 1024 ** 2;

/** Why a set was made. `firmware`: it is what comes back by itself after a firmware upgrade. */
export const REASONS = [
  'asked',
  'removal',
  'upgrade',
  'self_upgrade',
  'given',
  'firmware',
] as const;
export type Reason = (typeof REASONS)[number];

export const setId = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{32}$/, '32 hexadecimal digits are expected'),
);

const MOST_ENTRIES = 20_000;
const line = v.pipe(v.string(), v.maxLength(200), v.regex(/^[^\0\n\r]*$/));
const whole = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER));
/** The end of the year 9999: what is later has no date. */
const LATEST_S = 253_402_300_799;
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const path = v.pipe(v.string(), v.maxLength(1024), v.regex(DEVICE_PATH));

const keptFile = v.object({
  path,
  /** Permissions alone. */
  mode: v.pipe(whole, v.maxValue(0o777)),
  bytes: whole,
  sha256,
});

const wantedPackage = v.object({
  name: packageName,
  version: line,
  is_held: v.optional(v.boolean()),
  /** Whether the package came as a file that was sent. */
  is_upload: v.optional(v.boolean()),
});

const packageFile = v.object({
  name: packageName,
  version: line,
  /** Name of the package file in the set. */
  file: v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9.+_~-]{0,200}$/)),
  bytes: whole,
  sha256,
});

const list = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(v.array(schema), v.maxLength(MOST_ENTRIES));

export const manifestSchema = v.object({
  format: v.literal(FORMAT),
  id: setId,
  made_at: v.pipe(whole, v.maxValue(LATEST_S)),
  reason: v.picklist(REASONS),
  /** A warning for who opens the set by hand. */
  warning: line,
  depotd: line,
  release: line,
  architecture: line,
  package_manager: managerName,
  /** What the owner asked for, without what came with it. */
  packages: list(wantedPackage),
  /** What of the packages that came with it is held. Sets of earlier versions lack it. */
  held: v.optional(list(packageName), []),
  feeds: list(v.object({ name: line, url: v.pipe(v.string(), v.maxLength(600)) })),
  /** Services that the owner has switched off. */
  disabled: list(v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/))),
  files: list(keptFile),
  package_files: list(packageFile),
});

/** Whether a set can have a file of that path. */
export function isSetPath(text: string): boolean {
  return v.is(path, text);
}

export type Manifest = v.InferOutput<typeof manifestSchema>;
export type KeptFile = Manifest['files'][number];
export type PackageFile = Manifest['package_files'][number];

export const MOST_CONFIGURATION_BYTES = 64 * 1024 ** 2;

export function hasTooMuch({ files }: Pick<Manifest, 'files'>): boolean {
  return files.reduce((sum, file) => sum + file.bytes, 0) > MOST_CONFIGURATION_BYTES;
}

export function textOf(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`);
}

/** One file of a set, by its name there. */
export interface Member {
  name: string;
  bytes: number;
  sha256: string;
}

/** What stands behind the manifest, in this order and nothing else. */
export function membersOf({ files, package_files: packages }: Manifest): Member[] {
  return [
    ...files.map((file) => ({ ...file, name: `files${file.path}` })),
    ...packages.map((each) => ({ ...each, name: `packages/${each.file}` })),
  ];
}
