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
  discard(): void;
}

export interface AnswerWriterOptions {
  /** The file to write. */
  partFile: string;
  /** The first line, as JSON. */
  about: object;
  /** Limit for the file. */
  mostBytes: number;
  /** How long the answer waits for the disk, in milliseconds, before its copy is given up. */
  timeoutMs: number;
  /** Called when the file is whole. */
  onWhole: (bytes: number) => Promise<void>;
  /** Called once, when nothing more happens to the file: it has its place, or is gone. */
  onEnd: () => void;
}

/** The body's length in hexadecimal digits, at the end of the file. Bytes. */
export const FOOTER_BYTES = 16;
/** What may wait for the disk, in bytes, before the answer has to wait, too. */
const MAX_BEHIND_BYTES = 262_144;

/** Writes one answer beside the way to its caller. */
export function createAnswerWriter({
  partFile,
  about,
  mostBytes,
  timeoutMs,
  onWhole,
  onEnd,
}: AnswerWriterOptions): AnswerWriter {
  let file: WriteStream | undefined = createWriteStream(partFile, {
    mode: 0o600,
    highWaterMark: MAX_BEHIND_BYTES,
  });
  let bytes = 0;
  /** Whoever waits for the disk. */
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  const remove = (): Promise<void> => rm(partFile, { force: true }).catch(() => undefined);
  const goOn = (): void => {
    const resumes = waiting;
    waiting = [];
    clearTimeout(timer);
    for (const resume of resumes) resume();
  };
  const detach = (): WriteStream | undefined => {
    const detached = file;
    file = undefined;
    return detached;
  };
  const discard = (): void => {
    const discarded = detach();
    discarded?.once('close', () => void remove().finally(onEnd));
    discarded?.destroy();
    goOn();
  };
  const put = (piece: Buffer): boolean => {
    bytes += piece.length;
    const isAccepted = file?.write(piece) ?? true;
    if (bytes > mostBytes) discard();
    return isAccepted || file === undefined;
  };
  file.on('error', discard).on('drain', goOn);
  put(Buffer.from(`${JSON.stringify(about)}\n`));
  const headBytes = bytes;
  const write = (piece: Buffer, resume: () => void): boolean => {
    if (file === undefined || put(Buffer.from(piece))) return true;
    if (waiting.length === 0) timer = setTimeout(discard, timeoutMs);
    waiting.push(resume);
    return false;
  };
  const commit = (): void => {
    put(Buffer.from((bytes - headBytes).toString(16).padStart(FOOTER_BYTES, '0')));
    const whole = detach();
    whole?.once('error', () => void remove().finally(onEnd));
    whole?.end(() => {
      if (whole.errored === null) void onWhole(bytes).catch(remove).finally(onEnd);
    });
    goOn();
  };
  return { write, commit, discard };
}
