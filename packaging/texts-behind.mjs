// Packed texts that a start does not read: they lie behind the code, in the same file.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/**
 * Keeps the texts of one bundle. Until code is laid, they come in whichever order esbuild reads the
 * files: they stand for themselves by a hash, and lie in the order of these.
 */
export function createTextsBehind() {
  const kept = new Map();
  const positions = new Map();
  let position = 0;
  const layAll = () => {
    for (const [name, { length }] of [...kept].sort(([one], [other]) => (one < other ? -1 : 1))) {
      if (positions.has(name)) continue;
      positions.set(name, `${position},${length}`);
      position += length;
    }
  };
  return {
    /**
     * @param packed in base64
     * @returns what stands for it in code until that is whole
     */
    keep: (packed) => {
      const name = createHash('sha256').update(packed).digest('hex').slice(0, 16);
      kept.set(name, Buffer.from(packed, 'base64'));
      return `@text:${name}@`;
    },
    /** @returns the code; `textAt(position, length)` gives it a text again, in base64, when it is used */
    laidBehind: (code) => {
      layAll();
      return code.replace(PLACE, (_, property, name) => {
        const text = `textAt(${positions.get(name)})`;
        return property === undefined ? text : `get ${property}(){return ${text}}`;
      });
    },
    texts: () => Buffer.concat([...positions.keys()].map((name) => kept.get(name))),
  };
}

/** It is a third of the size on the flash, and unpacked once. */
export function packed(text) {
  return gzipSync(text, { level: 9 }).toString('base64');
}

/** As a value of an object it is read with the value. */
const PLACE = /(?:\b(\w+):)?["'`]@text:([0-9a-f]{16})@["'`]/g;
