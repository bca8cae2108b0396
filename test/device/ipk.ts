import { createHash } from 'node:crypto';

import { controlText as fieldsText, createIpk as packIpk } from '../../packaging/ipk.ts';
import { archiveBytes, installedBytes, type PackageFile } from '../../packaging/package-files.ts';
import { MODIFIED_AT } from './tar.ts';

export interface PackageSource {
  name: string;
  version: string;
  architecture: string;
  /** Further control fields in the order in which they are written, such as Depends. */
  fields?: Readonly<Record<string, string>>;
  /** Absolute paths on the device. */
  files?: Readonly<Record<string, PackageFile>>;
  conffiles?: readonly string[];
  /**
   * preinst, postinst, prerm, postrm (executable) and postinst-pkg and the like (sourced by those).
   */
  scripts?: Readonly<Record<string, string>>;
}

export interface Ipk {
  source: PackageSource;
  fileName: string;
  bytes: Buffer;
  sha256: string;
}

/** Above this, compressing would cost more than it is worth to a test. */
const COMPRESSED_BELOW_BYTES = 1024 ** 2;

const packedBefore = new WeakMap<PackageSource, Ipk>();

/** The same source always gives the same bytes. */
export function createIpk(source: PackageSource): Ipk {
  const ipk = packedBefore.get(source) ?? pack(source);
  packedBefore.set(source, ipk);
  return ipk;
}

function pack(source: PackageSource): Ipk {
  const { files = {}, conffiles, scripts } = source;
  const contents = {
    control: controlFields(source),
    files,
    modifiedAt: MODIFIED_AT,
    ...(conffiles && { conffiles }),
    ...(scripts && { scripts }),
  };
  const bytes = packIpk(contents, {
    compression: installedBytes(files) < COMPRESSED_BELOW_BYTES ? 6 : 0,
  });
  const fileName = `${source.name}_${source.version}_${source.architecture}.ipk`;
  return { source, fileName, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** The control file, as the package carries it and, with further fields, as an index lists it. */
export function controlText(
  source: PackageSource,
  further: Readonly<Record<string, string>> = {},
): string {
  return fieldsText(controlFields(source, further));
}

function controlFields(
  source: PackageSource,
  further: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { Description: description, ...fields } = source.fields ?? {};
  return {
    Package: source.name,
    Version: source.version,
    ...fields,
    Architecture: source.architecture,
    'Installed-Size': String(archiveBytes(source.files ?? {})),
    ...further,
    Description: description ?? `${source.name} test package`,
  };
}
