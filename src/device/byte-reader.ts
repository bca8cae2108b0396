/** Reads bytes from a stream in the pieces that a format has. */
export interface ByteReader {
  /**
   * Exactly so many bytes; undefined at the end of the stream. @throws an Error if it ends in
   * between
   */
  read: (count: number) => Promise<Buffer | undefined>;
  /**
   * At least one byte and at most so many, as they come. @throws an Error at the end of the stream
   */
  readSome: (most: number) => Promise<Buffer>;
  /** @throws an Error if the stream ends before */
  skip: (count: number) => Promise<void>;
}

export function createByteReader(source: AsyncIterable<Buffer>): ByteReader {
  const pieces = source[Symbol.asyncIterator]();
  let piece: Buffer = Buffer.alloc(0);
  const fill = async (): Promise<boolean> => {
    while (piece.length === 0) {
      const next = await pieces.next();
      if (next.done === true) return false;
      piece = next.value;
    }
    return true;
  };
  const readSome = async (most: number): Promise<Buffer> => {
    if (!(await fill())) throw new Error('it ends in the middle');
    const bytes = piece.subarray(0, most);
    piece = piece.subarray(bytes.length);
    return bytes;
  };
  return {
    readSome,
    read: async (count) => {
      if (count > 0 && !(await fill())) return undefined;
      const chunks: Buffer[] = [];
      for (let left = count; left > 0; left -= chunks.at(-1)?.length ?? 0) {
        chunks.push(await readSome(left));
      }
      return Buffer.concat(chunks);
    },
    skip: async (count) => {
      for (let left = count; left > 0;) left -= (await readSome(left)).length;
    },
  };
}
