/** A member of a tar archive (tar(5), ustar). */
export interface TarEntry {
  name: string;
  /** Type of the entry; default a plain file. */
  type?: '0' | '2' | '5';
  mode: number;
  uid?: number;
  gid?: number;
  sizeBytes: number;
  /** Unix seconds; default 0. */
  mtime?: number;
  /** Where a link points. */
  target?: string;
  /** SHA-1 of the content in hexadecimal: apk marks a package as broken if a file has none. */
  checksum?: string;
}

const BLOCK_BYTES = 512;
/** Longer ones stand in a member of their own. */
const MOST_NAME_BYTES = 100;

export const END_OF_TAR = Buffer.alloc(2 * BLOCK_BYTES);

/** What fills the last block of a member. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES);
}

/** How long names are written: apk reads no long target of GNU's, opkg nothing of pax. */
export type LongNames = 'pax' | 'gnu';

export function tarMember(entry: Omit<TarEntry, 'sizeBytes'>, content: Buffer): Buffer[] {
  const sizeBytes = content.length;
  return [...tarHeader({ ...entry, sizeBytes }), content, tarPadding(sizeBytes)];
}

/** The member's header, behind one with what does not fit into it (pax(1), GNU tar). */
export function tarHeader(entry: TarEntry, longNames: LongNames = 'pax'): Buffer[] {
  const { name, target = '', checksum } = entry;
  if (longNames === 'gnu') {
    return [...gnuLongName('L', name), ...gnuLongName('K', target), block(entry)];
  }
  const records = [
    ...(Buffer.byteLength(name) > MOST_NAME_BYTES ? [paxRecord('path', name)] : []),
    ...(Buffer.byteLength(target) > MOST_NAME_BYTES ? [paxRecord('linkpath', target)] : []),
    ...(checksum === undefined ? [] : [paxRecord('APK-TOOLS.checksum.SHA1', checksum)]),
  ];
  if (records.length === 0) return [block(entry)];
  const content = Buffer.concat(records);
  const extended = block({ name: 'PaxHeader', mode: 0o644, sizeBytes: content.length }, 'x');
  return [extended, content, tarPadding(content.length), block(entry)];
}

function gnuLongName(type: 'L' | 'K', name: string): Buffer[] {
  const content = Buffer.from(`${name}\0`);
  if (content.length <= MOST_NAME_BYTES) return [];
  const header = block({ name: '././@LongLink', mode: 0o644, sizeBytes: content.length }, type);
  return [header, content, tarPadding(content.length)];
}

/** A record begins with its own length, the digits of it included. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length;
  while (length !== rest.length + `${length}`.length) length = rest.length + `${length}`.length;
  return Buffer.concat([Buffer.from(`${length}`), rest]);
}

function block(entry: TarEntry, type: string = entry.type ?? '0'): Buffer {
  const { name, mode, uid = 0, gid = 0, sizeBytes, mtime = 0, target = '' } = entry;
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, length: number): void => {
    header.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1');
  };
  header.write(name, 0, MOST_NAME_BYTES, 'utf8');
  octal(mode, 100, 8);
  octal(uid, 108, 8);
  octal(gid, 116, 8);
  octal(sizeBytes, 124, 12);
  octal(mtime, 136, 12);
  header.write(type, 156, 'latin1');
  header.write(target, 157, MOST_NAME_BYTES, 'utf8');
  header.write('ustar\u000000', 257, 'latin1');
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
