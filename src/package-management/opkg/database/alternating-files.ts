import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { overwriteFile, replaceFile } from '../../../device/durable-file.ts';

const BLOCK_BYTES = 4096;
const [FLAGS_AT, HAS_EXTRA, LENGTH_AT, NUMBER_AT, NUMBER_BYTES] = [3, 4, 10, 12, 16];
/** By RFC 1952 it might be 64 kB, but busybox' gzip, the watcher's, reads no more than 16 kB. */
const MOST_EXTRA_BYTES = 12 * 1024;

interface Packed {
  file: string;
  bytes: Buffer;
  /** The number of its text; Infinity without one, as an older depotd writes it. */
  number: number;
}

/**
 * A text in two files by turns, packed by gzip. Invariants:
 *  - the older one is written over in its place (fdatasync(2)) while the newer one stays, so that a
 *    power cut leaves a whole one;
 *  - a file keeps its length, and needs no new blocks: to put a new one in its place takes 20 more
 *    writes, most of them of the file system's own (docs/reference/jobs.md);
 *  - the number of a text stands in a field of its head that gzip skips (RFC 1952, FEXTRA). One
 *    without is an older depotd's, which came back after a newer one, and counts as the newest.
 * @param maxBytes of the text
 */
export function createAlternatingFiles(files: readonly [string, string], maxBytes: number) {
  const readAll = async (): Promise<Packed[]> => {
    const all = await Promise.all(files.map(readPacked));
    return all.sort((one, other) => (one.number < other.number ? 1 : -1));
  };
  const newestOf = async (all: readonly Packed[]): Promise<{ text?: string; from?: Packed }> => {
    for (const from of all) {
      const unpacking = promisify(gunzip)(from.bytes, { maxOutputLength: maxBytes });
      const text = await unpacking.catch(() => undefined);
      if (text !== undefined) return { text: text.toString(), from };
    }
    return {};
  };
  return {
    /** The newest text that is whole; undefined if there is none. */
    read: async (): Promise<string | undefined> => (await newestOf(await readAll())).text,
    /** Resolves when the text is on the medium. */
    write: async (text: string): Promise<void> => {
      const all = await readAll();
      const { from } = await newestOf(all);
      const number = 1 + Math.max(0, ...all.map((one) => one.number).filter(Number.isFinite));
      const packed = await promisify(gzip)(text);
      const older = all.find(({ file }) => file !== from?.file);
      // What has no number would count before what is written beside it.
      if (from === undefined || older === undefined || from.number === Infinity) {
        return replaceFile(from?.file ?? files[0], pad(packed, number));
      }
      // A torn file is replaced: what was half written over in it must not be mixed with this text.
      const isWhole = (await newestOf([older])).from !== undefined;
      const padded = pad(packed, number, isWhole ? older.bytes : undefined);
      if (padded.length !== older.bytes.length || !isWhole) return replaceFile(older.file, padded);
      await overwriteFile(older.file, padded).catch(() => replaceFile(older.file, padded));
    },
  };
}

async function readPacked(file: string): Promise<Packed> {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0));
  const digits = bytes.toString('latin1', NUMBER_AT, NUMBER_AT + NUMBER_BYTES);
  const isNumbered = ((bytes[FLAGS_AT] ?? 0) & HAS_EXTRA) !== 0 && /^\d{16}$/.test(digits);
  return { file, bytes, number: isNumbered ? Number(digits) : Infinity };
}

/**
 * Puts a field into the head, so long that there are whole blocks, as many as of the older one if
 * it fits. What is packed begins elsewhere than there, by a zero at the end, which gzip ignores:
 * of a new number before the older text, by a power cut in between, nothing can be unpacked.
 */
function pad(packed: Buffer, number: number, older: Buffer = Buffer.alloc(0)): Buffer {
  const least = packed.length + 2 + NUMBER_BYTES + 1;
  const spare = older.length - least;
  const fits = spare >= 0 && spare + NUMBER_BYTES < MOST_EXTRA_BYTES;
  const total = fits ? older.length : Math.ceil(least / BLOCK_BYTES) * BLOCK_BYTES;
  const most = total - packed.length - 2;
  const isSame = fits && older.readUInt16LE(LENGTH_AT) === most;
  const head = Buffer.alloc(NUMBER_AT + (isSame ? most - 1 : most));
  packed.copy(head, 0, 0, LENGTH_AT);
  head[FLAGS_AT] = HAS_EXTRA;
  head.writeUInt16LE(head.length - NUMBER_AT, LENGTH_AT);
  head.write(String(number).padStart(NUMBER_BYTES, '0'), NUMBER_AT, 'latin1');
  return Buffer.concat([head, packed.subarray(LENGTH_AT)], total);
}
