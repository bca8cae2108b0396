import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { controlFiles, type PackageContents } from './ipk.ts';
import { toEntries, type PackageFiles } from './package-files.ts';
import { createTar } from './tar.ts';

/**
 * A Debian package: an ar archive of three files (deb(5)). The same contents always give the same
 * bytes.
 */
export function createDeb(contents: PackageContents): Buffer {
  const pack = (files: PackageFiles): Buffer =>
    gzipSync(createTar(toEntries(files), contents.modifiedAt), { level: 9 });
  const members: [string, Buffer][] = [
    ['debian-binary', Buffer.from('2.0\n')],
    ['control.tar.gz', pack({ ...controlFiles(contents), '/md5sums': md5sums(contents.files) })],
    ['data.tar.gz', pack(contents.files)],
  ];
  return Buffer.concat([
    Buffer.from('!<arch>\n'),
    ...members.flatMap(([name, content]) =>
      toMember({ name, content, modifiedAt: contents.modifiedAt }),
    ),
  ]);
}

/** What debsums(1) holds the files to; conffiles are in the status file. */
function md5sums(files: PackageFiles): string {
  return toEntries(files)
    .flatMap(({ name, content }) =>
      content === undefined
        ? []
        : `${createHash('md5').update(content).digest('hex')}  ${name.slice('./'.length)}\n`,
    )
    .join('');
}

/**
 * ar(5): name, time, owner, group, mode and size in columns of text; a member begins at an even
 * place.
 */
function toMember({
  name,
  content,
  modifiedAt,
}: {
  name: string;
  content: Buffer;
  modifiedAt: number;
}): Buffer[] {
  const columns = [
    name.padEnd(16),
    String(modifiedAt).padEnd(12),
    '0'.padEnd(6),
    '0'.padEnd(6),
    '100644'.padEnd(8),
    String(content.length).padEnd(10),
  ];
  return [
    Buffer.from(`${columns.join('')}\`\n`),
    content,
    Buffer.from(content.length % 2 === 0 ? '' : '\n'),
  ];
}
