/** One thing in an archive. Folders end in "/", as opkg expects; nothing is made that is not named. */
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

/** Shortly after the epoch's 1.7 billionth second: the same bytes for the same entries, whenever they are made. */
const MODIFIED_AT = 1_700_000_000;

/** A tar archive in GNU's format, owned by root, as OpenWrt's builders write it. */
export function createTar(entries: readonly TarEntry[]): Buffer {
  const end = Buffer.alloc(2 * BLOCK_BYTES);
  return Buffer.concat([...entries.flatMap(toBlocks), end]);
}

function toBlocks(entry: TarEntry): Buffer[] {
  const content = entry.content ?? Buffer.alloc(0);
  const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return [createHeader(entry, content.length), content, padding];
}

function createHeader(entry: TarEntry, sizeBytes: number): Buffer {
  if (Buffer.byteLength(entry.name) > MAX_NAME_BYTES) {
    throw new Error(`cannot archive ${entry.name}: a name has at most ${MAX_NAME_BYTES} bytes`);
  }
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(entry.name, 0);
  header.write(toOctal(entry.mode, 7), 100);
  header.write(toOctal(0, 7), 108);
  header.write(toOctal(0, 7), 116);
  header.write(toOctal(sizeBytes, 11), 124);
  header.write(toOctal(MODIFIED_AT, 11), 136);
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
