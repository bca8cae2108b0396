/** Reads bytes from a stream in the pieces that a format has. */
export type ByteReader = ReturnType<typeof createByteReader>;

export function createByteReader(source: AsyncIterable<Buffer>) {
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
    /** Reads at least one byte, at most so many. @throws an Error at the end of the stream */
    readSome,
    /** Exactly so many bytes; undefined at the end. @throws an Error if it ends in between */
    read: async (count: number): Promise<Buffer | undefined> => {
      if (count > 0 && !(await fill())) return undefined;
      const chunks: Buffer[] = [];
      for (let left = count; left > 0; left -= chunks.at(-1)?.length ?? 0) {
        chunks.push(await readSome(left));
      }
      return Buffer.concat(chunks);
    },
    /** The stream is read no further: what it keeps open is closed. */
    close: async (): Promise<void> => void (await pieces.return?.()),
    /** @throws an Error if the stream ends before */
    skip: async (count: number): Promise<void> => {
      for (let left = count; left > 0;) left -= (await readSome(left)).length;
    },
  };
}

/** All bytes of a stream. */
export async function allBytes(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

/** The pieces of a stream. @throws what `tooMany` makes, once they have more bytes than that */
export async function* bounded<Piece extends Uint8Array>(
  pieces: AsyncIterable<Piece>,
  mostBytes: number,
  tooMany: () => Error,
): AsyncGenerator<Piece, void> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > mostBytes) throw tooMany();
    yield piece;
  }
}
