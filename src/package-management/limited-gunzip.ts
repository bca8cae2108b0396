import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { unpacksTooLarge } from './failure.ts';

export type Unpack = ReturnType<typeof limitedGunzip>;

/**
 * Unpacks archives, such as a package file and those in it; each source is destroyed with the
 * reading of it.
 * @param mostBytes that all of them together may have, unpacked
 * @returns a generator, which throws DepotError no_space if they have more
 */
export function limitedGunzip(mostBytes: number) {
  let left = mostBytes;
  return async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const packed =
      source instanceof Readable ? source : Readable.from(source, { objectMode: false });
    const unpacked = createGunzip();
    packed.on('error', (error) => unpacked.destroy(error));
    packed.pipe(unpacked);
    try {
      for await (const piece of unpacked as AsyncIterable<Buffer>) {
        left -= piece.length;
        if (left < 0) throw unpacksTooLarge(mostBytes);
        yield piece;
      }
    } finally {
      packed.destroy();
      unpacked.destroy();
    }
  };
}
