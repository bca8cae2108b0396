/** Takes bytes from a stream in the pieces that a format has. */
export interface ByteReader {
  /**
   * Exactly so many bytes; undefined at the end of the stream. @throws an Error if it ends in
   * between
   */
  take: (count: number) => Promise<Buffer | undefined>;
  /**
   * At least one byte and at most so many, as they come. @throws an Error at the end of the stream
   */
  takeSome: (most: number) => Promise<Buffer>;
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
  const takeSome = async (most: number): Promise<Buffer> => {
    if (!(await fill())) throw new Error('it ends in the middle');
    const taken = piece.subarray(0, most);
    piece = piece.subarray(taken.length);
    return taken;
  };
  return {
    takeSome,
    take: async (count) => {
      if (count > 0 && !(await fill())) return undefined;
      const taken: Buffer[] = [];
      for (let left = count; left > 0; left -= taken.at(-1)?.length ?? 0) {
        taken.push(await takeSome(left));
      }
      return Buffer.concat(taken);
    },
    skip: async (count) => {
      for (let left = count; left > 0;) left -= (await takeSome(left)).length;
    },
  };
}
