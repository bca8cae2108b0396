export type ChunkedDecoder = ReturnType<typeof createChunkedDecoder>;

/** A size line with its extensions, and all trailers together; longer ones are refused. Bytes. */
const MAX_LINE_BYTES = 4096;
const MAX_TRAILER_BYTES = 16_384;

/** Decodes a chunked body (RFC 9112, section 7.1), piece by piece, without copying it. */
export function createChunkedDecoder() {
  let state: 'size' | 'data' | 'data-end' | 'trailer' = 'size';
  let left = 0;
  let line = '';
  let trailerBytes = 0;

  /** Up to its CRLF. @returns the position behind it, or -1 if more bytes are needed */
  const readLine = (bytes: Buffer, position: number): number => {
    const end = bytes.indexOf(0x0a, position);
    line += bytes.toString('latin1', position, end === -1 ? bytes.length : end + 1);
    return end === -1 ? -1 : end + 1;
  };

  /** @returns a problem, or whether the body is over */
  const endLine = (): { problem: string } | boolean => {
    const text = line;
    line = '';
    if (!text.endsWith('\r\n')) {
      return { problem: 'a line of its chunked body does not end with CRLF' };
    }
    if (state === 'data-end') {
      state = 'size';
      return text === '\r\n' ? false : { problem: 'a chunk of its body is longer than announced' };
    }
    if (state === 'trailer') {
      trailerBytes += text.length;
      return trailerBytes > MAX_TRAILER_BYTES
        ? { problem: 'its trailers are too long' }
        : text === '\r\n';
    }
    const digits = CHUNK_SIZE.exec(text)?.[1];
    if (digits === undefined) return { problem: 'its body has a chunk without a size' };
    left = Number.parseInt(digits, 16);
    state = left === 0 ? 'trailer' : 'data';
    return false;
  };

  /**
   * @param deliver called with each piece of the body; it lies in `bytes`
   * @returns `more`; or what lies behind the end of the body, mostly nothing; or what is wrong
   */
  return (
    bytes: Buffer,
    deliver: (piece: Buffer) => void,
  ): 'more' | { rest: Buffer } | { problem: string } => {
    let position = 0;
    while (position < bytes.length) {
      if (state === 'data') {
        const end = Math.min(bytes.length, position + left);
        deliver(bytes.subarray(position, end));
        left -= end - position;
        position = end;
        if (left === 0) state = 'data-end';
        continue;
      }
      position = readLine(bytes, position);
      if (line.length > MAX_LINE_BYTES) {
        return { problem: 'a line of its chunked body is too long' };
      }
      if (position === -1) return 'more';
      const ended = endLine();
      if (typeof ended === 'object') return ended;
      if (ended) return { rest: bytes.subarray(position) };
    }
    return 'more';
  };
}

/** 12 hexadecimal digits fit a number exactly; extensions are ignored: they end at each hop. */
const CHUNK_SIZE = /^([0-9A-Fa-f]{1,12})[\t ]*(?:;[^\r\n]*)?\r\n$/;
