/**
 * One thing in an archive. Folders end in "/", as opkg expects; nothing is made that is not named.
 */
export interface TarEntry {
  name: string;
  mode: number;
  content?: Buffer;
  /** Where a symbolic link points. */
  target?: string;
  /** tar(5)'s letter for what it is, where that does not follow from the rest. */
  type?: string;
}

const BLOCK_BYTES = 512;
const MAX_NAME_BYTES = 100;

/**
 * A tar archive in GNU's format, owned by root, as OpenWrt's builders write it. The same entries
 * and time always give the same bytes.
 * @param modifiedAt of every entry, in Unix seconds
 */
export function createTar(entries: readonly TarEntry[], modifiedAt: number): Buffer {
  const end = Buffer.alloc(2 * BLOCK_BYTES);
  return Buffer.concat([...entries.flatMap((entry) => toBlocks(entry, modifiedAt)), end]);
}

function toBlocks(entry: TarEntry, modifiedAt: number): Buffer[] {
  const content = entry.content ?? Buffer.alloc(0);
  const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return [createHeader(entry, content.length, modifiedAt), content, padding];
}

function createHeader(entry: TarEntry, sizeBytes: number, modifiedAt: number): Buffer {
  if (Buffer.byteLength(entry.name) > MAX_NAME_BYTES) {
    throw new Error(`cannot archive ${entry.name}: a name has at most ${MAX_NAME_BYTES} bytes`);
  }
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(entry.name, 0);
  header.write(toOctal(entry.mode, 7), 100);
  header.write(toOctal(0, 7), 108);
  header.write(toOctal(0, 7), 116);
  header.write(toOctal(sizeBytes, 11), 124);
  header.write(toOctal(modifiedAt, 11), 136);
  header.write(' '.repeat(8), 148);
  header.write(typeOf(entry), 156);
  header.write(entry.target ?? '', 157);
  header.write('ustar  ', 257);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${toOctal(checksum, 6)}\0 `, 148);
  return header;
}

function typeOf(entry: TarEntry): string {
  if (entry.type !== undefined) return entry.type;
  if (entry.target !== undefined) return '2';
  return entry.name.endsWith('/') ? '5' : '0';
}

function toOctal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
