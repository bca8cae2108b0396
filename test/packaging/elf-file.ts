/** What a made-up program says of itself. */
export interface ElfTraits {
  machine?: number;
  bits?: 32 | 64;
  isBigEndian?: boolean;
  /** 2: a program; 3: one that can be loaded anywhere, or a library; 1: an object file. */
  type?: number;
  interpreter?: string | undefined;
  needed?: readonly string[];
  /** Stands somewhere in it. */
  text?: string;
}

const X86_64 = 62;
const SEGMENTS = 3;
/** Where the file is loaded: addresses are offsets beyond it. */
const BASE = 0x400000;

/** A file with an ELF header, the segments that a loader reads, and nothing that runs. By default a Node 20.20.2 for musl on x86_64. */
export function createElf(traits: ElfTraits = {}): Buffer {
  const { machine = X86_64, bits = 64, isBigEndian = false, type = 3, needed = ['libstdc++.so.6', 'libgcc_s.so.1', 'libc.musl-x86_64.so.1'], text = 'node.js/v20.20.2\0' } = traits;
  const interpreter = 'interpreter' in traits ? traits.interpreter : '/lib/ld-musl-x86_64.so.1';
  const wordBytes = bits / 8;
  const headerBytes = bits === 64 ? 64 : 52;
  const segmentBytes = bits === 64 ? 56 : 32;
  const strings = ['', ...needed].map((name) => `${name}\0`).join('');
  const loader = Buffer.from(`${interpreter ?? ''}\0`);
  const loaderAt = headerBytes + SEGMENTS * segmentBytes;
  const stringsAt = loaderAt + loader.length;
  const dynamicAt = stringsAt + strings.length;
  const entries = [...needed.map((name) => [1, strings.indexOf(`\0${name}\0`) + 1] as const), [5, BASE + stringsAt] as const, [0, 0] as const];
  const file = Buffer.alloc(dynamicAt + entries.length * 2 * wordBytes);
  const half = (value: number, at: number): unknown => (isBigEndian ? file.writeUInt16BE(value, at) : file.writeUInt16LE(value, at));
  const int = (value: number, at: number): unknown => (isBigEndian ? file.writeUInt32BE(value, at) : file.writeUInt32LE(value, at));
  const long = (value: number, at: number): unknown => (isBigEndian ? file.writeBigUInt64BE(BigInt(value), at) : file.writeBigUInt64LE(BigInt(value), at));
  const word = bits === 64 ? long : int;

  file.write('\x7fELF', 0, 'latin1');
  file[4] = bits === 64 ? 2 : 1;
  file[5] = isBigEndian ? 2 : 1;
  half(type, 16);
  half(machine, 18);
  word(headerBytes, bits === 64 ? 32 : 28);
  half(segmentBytes, bits === 64 ? 54 : 42);
  half(interpreter === undefined ? SEGMENTS - 1 : SEGMENTS, bits === 64 ? 56 : 44);
  const segment = (index: number, [kind, offset, sizeBytes]: readonly [number, number, number]): void => {
    const at = headerBytes + index * segmentBytes;
    int(kind, at);
    const [offsetAt, addressAt, sizeAt] = bits === 64 ? [8, 16, 32] : [4, 8, 16];
    word(offset, at + offsetAt);
    word(BASE + offset, at + addressAt);
    word(sizeBytes, at + sizeAt);
  };
  segment(0, [1, 0, file.length]);
  segment(1, [2, dynamicAt, entries.length * 2 * wordBytes]);
  segment(2, [3, loaderAt, loader.length]);
  loader.copy(file, loaderAt);
  file.write(strings, stringsAt, 'latin1');
  entries.forEach(([tag, value], index) => {
    word(tag, dynamicAt + index * 2 * wordBytes);
    word(value, dynamicAt + (index * 2 + 1) * wordBytes);
  });
  return Buffer.concat([file, Buffer.from(text, 'latin1')]);
}
