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
  let state: State = { depth: 0, isInText: false, isEscaped: false };
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
    // One loop with few calls and variables of its own: it sees each of some millions of bytes.
    let { depth, isInText, isEscaped } = state;
    for (let at = left.length; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (isInText) {
        isInText = isEscaped || byte !== QUOTE;
        isEscaped = !isEscaped && byte === BACKSLASH;
      } else if (byte === QUOTE) isInText = true;
      else if (byte === OPEN) {
        if (depth === 0) start = at;
        depth += 1;
      } else if (byte === CLOSE) {
        if (depth === 1) finish(chunk, start, at + 1);
        depth = Math.max(0, depth - 1);
      }
    }
    state = { depth, isInText, isEscaped };
    keep(depth === 0 ? NOTHING : chunk.subarray(start));
  };
}

interface State {
  /** How many objects are open. */
  depth: number;
  isInText: boolean;
  isEscaped: boolean;
}

const NOTHING = Buffer.alloc(0);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** What is no description of a package is passed over, as a damaged one in a list of opkg is. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
