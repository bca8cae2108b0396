/**
 * Cuts a JSON array of objects that comes piece by piece into its objects, so that ten thousand
 * packages need not be in memory as one text (RFC 8259).
 * @param mostBytes an object that is longer is passed over
 * @returns a function that has each piece, and gives the texts of the objects that end in it
 */
export function createObjectCutter(mostBytes: number): (piece: Buffer) => string[] {
  const depthAfter = createDepth();
  let left: Buffer = NOTHING;
  let depth = 0;
  /** The object under way is too long. */
  let isPassedOver = false;
  return (piece) => {
    const found: string[] = [];
    const chunk = left.length === 0 ? piece : Buffer.concat([left, piece]);
    let start = 0;
    for (let at = left.length; at < chunk.length; at += 1) {
      const before = depth;
      depth = depthAfter(chunk[at]);
      if (before === 0 && depth === 1) start = at;
      if (before !== 1 || depth !== 0) continue;
      if (!isPassedOver) found.push(chunk.toString('utf8', start, at + 1));
      isPassedOver = false;
    }
    left = depth === 0 || isPassedOver ? NOTHING : chunk.subarray(start);
    if (left.length > mostBytes) {
      isPassedOver = true;
      left = NOTHING;
    }
    return found;
  };
}

const NOTHING = Buffer.alloc(0);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** @returns a function that has each byte, and says how many objects are open behind it */
function createDepth(): (byte: number | undefined) => number {
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  return (byte) => {
    if (isEscaped) isEscaped = false;
    else if (byte === QUOTE) isInText = !isInText;
    else if (isInText) isEscaped = byte === BACKSLASH;
    else if (byte === OPEN) depth += 1;
    else if (byte === CLOSE && depth > 0) depth -= 1;
    return depth;
  };
}
