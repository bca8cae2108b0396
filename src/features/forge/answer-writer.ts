import { createWriteStream, type WriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';

export interface AnswerWriter {
  /**
   * Copies the piece; an answer that becomes too large is given up.
   * @returns false if the disk has to catch up: `resume` is called when it has, or when it took
   *   nothing for so long that the copy is given up
   */
  write(piece: Buffer, resume: () => void): boolean;
  commit(): void;
  drop(): void;
}

export interface AnswerWriterOptions {
  /** The file to write. */
  part: string;
  /** The first line, as JSON. */
  about: object;
  /** Limit for the file. */
  mostBytes: number;
  /** How long the answer waits for the disk, in milliseconds, before its copy is given up. */
  timeoutMs: number;
  /** Called when the file is whole. */
  keep: (bytes: number) => Promise<void>;
}

/** The body's length in hexadecimal digits, at the end of the file. Bytes. */
export const FOOTER_BYTES = 16;
/** What may wait for the disk, in bytes, before the answer has to wait, too. */
const MAX_BEHIND_BYTES = 262_144;

/** Writes one answer beside the way to its caller. */
export function createAnswerWriter({
  part,
  about,
  mostBytes,
  timeoutMs,
  keep,
}: AnswerWriterOptions): AnswerWriter {
  let file: WriteStream | undefined = createWriteStream(part, {
    mode: 0o600,
    highWaterMark: MAX_BEHIND_BYTES,
  });
  let bytes = 0;
  /** Whoever waits for the disk. */
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  const goOn = (): void => {
    const resumes = waiting;
    waiting = [];
    clearTimeout(timer);
    for (const resume of resumes) resume();
  };
  const take = (): WriteStream | undefined => {
    const taken = file;
    file = undefined;
    return taken;
  };
  const drop = (): void => {
    const dropped = take();
    dropped?.once('close', () => void rm(part, { force: true }));
    dropped?.destroy();
    goOn();
  };
  const put = (piece: Buffer): boolean => {
    bytes += piece.length;
    const isTaken = file?.write(piece) ?? true;
    if (bytes > mostBytes) drop();
    return isTaken || file === undefined;
  };
  file.on('error', drop).on('drain', goOn);
  put(Buffer.from(`${JSON.stringify(about)}\n`));
  const headBytes = bytes;
  const write = (piece: Buffer, resume: () => void): boolean => {
    if (file === undefined || put(Buffer.from(piece))) return true;
    if (waiting.length === 0) timer = setTimeout(drop, timeoutMs);
    waiting.push(resume);
    return false;
  };
  const commit = (): void => {
    put(Buffer.from((bytes - headBytes).toString(16).padStart(FOOTER_BYTES, '0')));
    const whole = take();
    whole?.once('error', () => void rm(part, { force: true }));
    whole?.end(() => {
      if (whole.errored === null) keep(bytes).catch(() => rm(part, { force: true }));
    });
    goOn();
  };
  return { write, commit, drop };
}
