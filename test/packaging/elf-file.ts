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

/** By default a Node 20.20.2 for musl on x86_64. */
const DEFAULTS = {
  machine: X86_64,
  bits: 64,
  isBigEndian: false,
  type: 3,
  interpreter: '/lib/ld-musl-x86_64.so.1' as string | undefined,
  needed: ['libstdc++.so.6', 'libgcc_s.so.1', 'libc.musl-x86_64.so.1'] as readonly string[],
  text: 'node.js/v20.20.2\0',
};

/** Where things stand in the file, by its class: [64 bits, 32 bits]. */
const LAYOUTS = {
  64: { header: 64, segment: 56, tableAt: 32, sizeAt: 54, countAt: 56, segmentFields: [8, 16, 32] },
  32: { header: 52, segment: 32, tableAt: 28, sizeAt: 42, countAt: 44, segmentFields: [4, 8, 16] },
} as const;

/** A file with an ELF header, the segments that a loader reads, and nothing that runs. */
export function createElf(traits: ElfTraits = {}): Buffer {
  const { machine, bits, isBigEndian, type, interpreter, needed, text } = {
    ...DEFAULTS,
    ...traits,
  };
  const layout = LAYOUTS[bits === 64 ? 64 : 32];
  const wordBytes = bits / 8;
  const strings = ['', ...needed].map((name) => `${name}\0`).join('');
  const loader = Buffer.from(`${interpreter ?? ''}\0`);
  const loaderAt = layout.header + SEGMENTS * layout.segment;
  const stringsAt = loaderAt + loader.length;
  const dynamicAt = stringsAt + strings.length;
  const entries = [
    ...needed.map((name) => [1, strings.indexOf(`\0${name}\0`) + 1]),
    [5, BASE + stringsAt],
    [0, 0],
  ];
  const dynamicBytes = entries.length * 2 * wordBytes;
  const file = Buffer.alloc(dynamicAt + dynamicBytes);
  const { half, int, word } = createWriter(file, { bits, isBigEndian });

  file.write('\x7fELF', 0, 'latin1');
  file[4] = bits === 64 ? 2 : 1;
  file[5] = isBigEndian ? 2 : 1;
  half(type, 16);
  half(machine, 18);
  word(layout.header, layout.tableAt);
  half(layout.segment, layout.sizeAt);
  half(interpreter === undefined ? SEGMENTS - 1 : SEGMENTS, layout.countAt);
  const segments = [
    [1, 0, file.length],
    [2, dynamicAt, dynamicBytes],
    [3, loaderAt, loader.length],
  ] as const;
  segments.forEach(([kind, offset, sizeBytes], index) => {
    const at = layout.header + index * layout.segment;
    const [offsetAt, addressAt, sizeAt] = layout.segmentFields;
    int(kind, at);
    word(offset, at + offsetAt);
    word(BASE + offset, at + addressAt);
    word(sizeBytes, at + sizeAt);
  });
  loader.copy(file, loaderAt);
  file.write(strings, stringsAt, 'latin1');
  entries.flat().forEach((value, index) => word(value, dynamicAt + index * wordBytes));
  return Buffer.concat([file, Buffer.from(text, 'latin1')]);
}

type Write = (value: number, at: number) => void;

function createWriter(
  file: Buffer,
  { bits, isBigEndian }: { bits: number; isBigEndian: boolean },
): { half: Write; int: Write; word: Write } {
  const int: Write = (value, at) =>
    isBigEndian ? file.writeUInt32BE(value, at) : file.writeUInt32LE(value, at);
  const long: Write = (value, at) =>
    isBigEndian
      ? file.writeBigUInt64BE(BigInt(value), at)
      : file.writeBigUInt64LE(BigInt(value), at);
  const half: Write = (value, at) =>
    isBigEndian ? file.writeUInt16BE(value, at) : file.writeUInt16LE(value, at);
  return { half, int, word: bits === 64 ? long : int };
}
