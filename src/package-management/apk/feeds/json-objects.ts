import { parseJson } from '../../../device/durable-file.ts';

/**
 * Reads a JSON array of objects that comes piece by piece (RFC 8259), so that ten thousand packages
 * need not be in memory as one text. apk prints each object on lines of its own, indented by two:
 * those that a piece has whole are parsed together. What is written otherwise, or is damaged, is
 * cut byte by byte, which takes three times as long.
 * @param mostBytes an object that is longer is passed over
 */
export function createObjectReader(mostBytes: number, onObject: (object: JsonObject) => void) {
  const onText = (text: string): void => {
    // What is damaged is passed over, as in a list of opkg.
    const object = parseJson(text);
    if (isObject(object)) onObject(object);
  };
  /** Begins with a bracket or a brace, unless nothing has come. */
  let left: Buffer = NOTHING;
  let cut: ((piece: Buffer) => void) | undefined;
  const readWhole = (bytes: Buffer): void => {
    const text = bytes.toString('utf8').trim();
    const [head, tail] = [text.startsWith('[') ? '' : '[', text.endsWith(']') ? '' : ']'];
    const objects = parseJson(`${head}${text}${tail}`);
    if (Array.isArray(objects)) objects.filter(isObject).forEach((object) => onObject(object));
    else createObjectCutter(mostBytes, onText)(bytes);
  };
  return {
    write: (piece: Buffer): void => {
      if (cut !== undefined) {
        cut(piece);
        return;
      }
      const chunk = left.length === 0 ? piece : Buffer.concat([left, piece]);
      const end = chunk.lastIndexOf(BETWEEN);
      if (end !== -1) readWhole(chunk.subarray(0, end + BRACE_AT));
      left = end === -1 ? chunk : chunk.subarray(end + BETWEEN.length - 1);
      if (left.length <= mostBytes) return;
      cut = createObjectCutter(mostBytes, onText);
      cut(left);
      left = NOTHING;
    },
    end: (): void => {
      if (left.length > 0) readWhole(left);
      left = NOTHING;
    },
  };
}

/** Within a text there is no line break (RFC 8259, section 7). */
const BETWEEN = '\n  }, {';
/** Length of the text up to the brace that ends an object. */
const BRACE_AT = '\n  }'.length;

export type JsonObject = Partial<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

/** Cuts an array of objects into their texts. @returns a function that has each piece */
function createObjectCutter(mostBytes: number, onObject: (text: string) => void) {
  let left: Buffer = NOTHING;
  let state = { depth: 0, isInText: false, isEscaped: false };
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
  return (piece: Buffer): void => {
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

const NOTHING = Buffer.alloc(0);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
