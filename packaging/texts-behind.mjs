// Packed texts that a start does not read: they lie behind the code, in the same file.
import { gzipSync } from 'node:zlib';

/** Keeps the texts of one bundle. */
export function createTextsBehind() {
  const kept = [];
  let position = 0;
  return {
    /**
     * @param packed in base64
     * @returns what stands for it in code until that is whole
     */
    keep: (packed) => {
      const bytes = Buffer.from(packed, 'base64');
      const place = `@text:${position},${bytes.length}@`;
      kept.push(bytes);
      position += bytes.length;
      return place;
    },
    /** @returns the code; `textAt(position, length)` gives it a text again, in base64, when it is used */
    laidBehind: (code) =>
      code.replace(PLACE, (_, property, place) =>
        property === undefined ? `textAt(${place})` : `get ${property}(){return textAt(${place})}`,
      ),
    texts: () => Buffer.concat(kept),
  };
}

/** It is a third of the size on the flash, and unpacked once. */
export function packed(text) {
  return gzipSync(text, { level: 9 }).toString('base64');
}

/** As a value of an object it is read with the value. */
const PLACE = /(?:\b(\w+):)?["'`]@text:(\d+,\d+)@["'`]/g;
