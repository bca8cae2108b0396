import type { Stats } from 'node:fs';

/** What stays free on the disk for others. */
const SPARE_BYTES = 16 * 1024 ** 2;
/** Bits that let somebody else write. */
const WRITABLE_BY_OTHERS = 0o022;
/** Before the code: whose it is, padded so that the code is aligned. */
const HEAD_BYTES = 128;

/**
 * The code that V8 made of a program, kept in a file beside it.
 *
 * Code is what the daemon runs, so it counts only as its own user's, root's, in a folder where
 * nobody else can write, and whole. V8 itself refuses what another version of it made, or one with
 * other flags; it does not look at the program, nor at damage.
 * @param program the file
 * @param id of its content
 */
export function createCodeCache(program: string, id: string) {
  const fs = process.getBuiltinModule('node:fs');
  const file = program.replace(/\.cjs$/, '.cache');
  const headOf = (code: Buffer): string =>
    `${id} ${process.version} ${process.arch} ${sumOf(code)}\n`.padEnd(HEAD_BYTES);

  const writeWhole = (code: Buffer): void => {
    const { bavail, bsize } = fs.statfsSync(program);
    const folder = program.replace(/\/[^/]*$/, '');
    if (!isOwn(fs.lstatSync(folder)) || bavail * bsize < SPARE_BYTES + code.length) return;
    const fresh = `${file}.${process.pid}`;
    const descriptor = fs.openSync(fresh, 'wx', 0o600);
    try {
      fs.writeFileSync(descriptor, headOf(code));
      fs.writeFileSync(descriptor, code);
      fs.fsyncSync(descriptor);
      fs.renameSync(fresh, file);
    } catch (error) {
      fs.rmSync(fresh, { force: true });
      throw error;
    } finally {
      fs.closeSync(descriptor);
    }
  };

  return {
    /** @returns undefined: there is none that fits and that can be trusted */
    read: (): Buffer | undefined => {
      try {
        const descriptor = fs.openSync(file, 'r');
        try {
          if (!isOwn(fs.fstatSync(descriptor))) return undefined;
          const content = fs.readFileSync(descriptor);
          const code = content.subarray(HEAD_BYTES);
          return content.toString('latin1', 0, HEAD_BYTES) === headOf(code) ? code : undefined;
        } finally {
          fs.closeSync(descriptor);
        }
      } catch {
        return undefined;
      }
    },
    /** Where it cannot be written, the next start compiles again. */
    write: (code: Buffer): void => {
      try {
        writeWhole(code);
      } catch {
        // A disk that is full or read-only: nothing but time depends on it.
      }
    },
  };
}

function isOwn({ uid, mode }: Stats): boolean {
  return uid === process.geteuid?.() && (mode & WRITABLE_BY_OTHERS) === 0;
}

/** A checksum against damage alone, so that a start need not load Node's cryptography. */
function sumOf(code: Buffer): number {
  return process.getBuiltinModule('node:zlib').crc32(code);
}
