import { gzipSync } from 'node:zlib';
import { toEntries, type PackageFile, type PackageFiles } from './package-files.ts';
import { createTar } from './tar.ts';

/** A package in the words that opkg and dpkg share. */
export interface PackageContents {
  /** The control file's fields in the order in which they are written. */
  control: Readonly<Record<string, string>>;
  files: PackageFiles;
  /** Absolute paths of files that their owner may change. */
  conffiles?: readonly string[];
  /**
   * preinst, postinst, prerm, postrm (executable) and postinst-pkg and the like (sourced by those).
   */
  scripts?: Readonly<Record<string, string>>;
  /** The time of every entry, in Unix seconds. */
  modifiedAt: number;
}

export interface PackOptions {
  /** zlib's, 0 to 9; default 9. */
  compression?: number;
}

/**
 * An OpenWrt package: a compressed tar of three files, in the order of OpenWrt's builder. The same
 * contents always give the same bytes.
 */
export function createIpk(
  contents: PackageContents,
  { compression = 9 }: PackOptions = {},
): Buffer {
  const pack = (files: PackageFiles): Buffer =>
    gzipSync(createTar(toEntries(files), contents.modifiedAt), { level: compression });
  const members = [
    { name: './debian-binary', mode: 0o644, content: Buffer.from('2.0\n') },
    { name: './data.tar.gz', mode: 0o644, content: pack(contents.files) },
    { name: './control.tar.gz', mode: 0o644, content: pack(controlFiles(contents)) },
  ];
  return gzipSync(createTar(members, contents.modifiedAt), { level: compression });
}

/** What an installed package's folder of control files gets. */
export function controlFiles({ control, conffiles, scripts = {} }: PackageContents): PackageFiles {
  const isSourced = (name: string): boolean => name.includes('-');
  const executables = Object.entries(scripts).map(([name, content]): [string, PackageFile] => [
    `/${name}`,
    { content, mode: isSourced(name) ? 0o644 : 0o755 },
  ]);
  return {
    '/control': controlText(control),
    ...(conffiles === undefined ? {} : { '/conffiles': lines(conffiles) }),
    ...Object.fromEntries(executables),
  };
}

export function controlText(fields: Readonly<Record<string, string>>): string {
  return lines(Object.entries(fields).map(([field, value]) => `${field}: ${value}`));
}

function lines(values: readonly string[]): string {
  return values.map((value) => `${value}\n`).join('');
}
