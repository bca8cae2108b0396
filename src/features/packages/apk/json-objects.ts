/**
 * Cuts a JSON array of objects that comes piece by piece into its objects, so that ten thousand
 * packages need not be in memory as one text (RFC 8259).
 * @param mostBytes an object that is longer is passed over
 * @param onObject has the text of each
 * @returns a function that has each piece
 */
export function createObjectCutter(
  mostBytes: number,
  onObject: (text: string) => void,
): (piece: Buffer) => void {
  let left: Buffer = NOTHING;
  /** How many objects are open. */
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  /** The object under way is too long. */
  let isPassedOver = false;
  const finish = (chunk: Buffer, start: number, end: number): void => {
    if (!isPassedOver) onObject(chunk.toString('utf8', start, end));
    isPassedOver = false;
  };
  const keep = (rest: Buffer): void => {
    isPassedOver ||= rest.length > mostBytes;
    left = isPassedOver ? NOTHING : rest;
  };
  return (piece) => {
    const chunk = left.length === 0 ? piece : Buffer.concat([left, piece]);
    let start = 0;
    // One loop with few calls: it sees each of some millions of bytes.
    for (let at = left.length; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (isEscaped) isEscaped = false;
      else if (byte === QUOTE) isInText = !isInText;
      else if (isInText) isEscaped = byte === BACKSLASH;
      else if (byte === OPEN) {
        if (depth === 0) start = at;
        depth += 1;
      } else if (byte === CLOSE && depth > 0) {
        depth -= 1;
        if (depth > 0) continue;
        finish(chunk, start, at + 1);
      }
    }
    keep(depth === 0 ? NOTHING : chunk.subarray(start));
  };
}

const NOTHING = Buffer.alloc(0);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
