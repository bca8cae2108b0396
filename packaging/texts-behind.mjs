// Packed texts that a start does not read: they lie behind the code, in the same file.

/** Keeps the texts of one bundle. */
export function createTextsBehind() {
  const texts = [];
  return {
    /**
     * @param packed in base64
     * @returns what stands for it in the bundle until that is whole
     */
    keep: (packed) => `@text:${texts.push(packed) - 1}@`,
    /**
     * @param code of the bundle; `textAt(position, length)` gives it a text again, in base64, when
     *   it is first used
     */
    layBehind: (code) => {
      const laid = [];
      let position = 0;
      const text = code.replace(PLACE, (_, property, index) => {
        const bytes = Buffer.from(texts[index], 'base64');
        const call = `textAt(${position},${bytes.length})`;
        laid.push(bytes);
        position += bytes.length;
        return property === undefined ? call : `get ${property}(){return ${call}}`;
      });
      return { text, texts: Buffer.concat(laid) };
    },
  };
}

/** As a value of an object it is read with the value. */
const PLACE = /(?:\b(\w+):)?["'`]@text:(\d+)@["'`]/g;
