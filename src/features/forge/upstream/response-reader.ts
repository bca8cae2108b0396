import type { ResponseSink } from './call.ts';
import { createChunkedDecoder, type ChunkedDecoder } from './chunked-decoder.ts';
import { parseResponseHead, type ResponseHead } from './response-head.ts';

export type ResponseReader = ReturnType<typeof createResponseReader>;

interface ResponseReaderOwner {
  sink: () => ResponseSink | undefined;
  /** The sink keeps a piece for a while. */
  hold: () => void;
  /** The sink is done with the piece that it kept. */
  letGo: () => void;
  complete: () => void;
}

/** Status line and headers together, in bytes; Node's own server takes 16 KiB. */
const MAX_HEAD_BYTES = 65_536;
const HEAD_END = Buffer.from('\r\n\r\n');

/** Turns what is read from a connection into head, pieces and end of one answer after the other. */
export function createResponseReader(owner: ResponseReaderOwner) {
  const reading: Reading = {
    owner,
    method: '',
    phase: 'done',
    partial: undefined,
    head: undefined,
    left: 0,
    decoder: undefined,
    hasRest: false,
  };
  return {
    /** A request of this method was written: its answer comes next. */
    begin: (method: string) =>
      Object.assign(reading, {
        method,
        phase: 'head',
        partial: undefined,
        head: undefined,
        hasRest: false,
      }),
    /** @returns what is wrong with the answer, if anything is */
    receive: (piece: Buffer): string | undefined =>
      reading.phase === 'head' ? receiveHead(reading, piece) : receiveBody(reading, piece),
    /** Whether the last answer ended where it said and the forge keeps the connection. */
    isReusable: () => reading.head?.isPersistent === true && !reading.hasRest,
    /** Whether the end of the connection is the proper end of the answer. */
    endsWithConnection: () => reading.phase === 'body' && reading.head?.framing.kind === 'close',
  };
}

interface Reading {
  owner: ResponseReaderOwner;
  method: string;
  phase: 'head' | 'body' | 'done';
  /** A head of which the end has not come. */
  partial: Buffer | undefined;
  head: ResponseHead | undefined;
  /** Bytes left of an announced length; infinite if none is announced. */
  left: number;
  decoder: ChunkedDecoder | undefined;
  /** Whether bytes came behind the end. */
  hasRest: boolean;
}

function receiveHead(reading: Reading, bytes: Buffer): string | undefined {
  const { partial } = reading;
  const whole = partial === undefined ? bytes : Buffer.concat([partial, bytes]);
  const end = whole.indexOf(HEAD_END, Math.max(0, whole.length - bytes.length - 3));
  if (end > MAX_HEAD_BYTES || (end === -1 && whole.length > MAX_HEAD_BYTES)) {
    return `its headers are longer than ${MAX_HEAD_BYTES} bytes`;
  }
  // A copy: the read buffer is used again.
  reading.partial = end === -1 ? Buffer.from(whole) : undefined;
  if (end === -1) return undefined;
  const head = parseResponseHead(whole.toString('latin1', 0, end + 2), reading.method);
  if (typeof head === 'string') return head;
  if (head.status === 101) return 'it changes the protocol';
  const rest = whole.subarray(end + HEAD_END.length);
  // 100 and 103 come before the answer; they are for this hop or for nobody here.
  if (head.status < 200) return rest.length === 0 ? undefined : receiveHead(reading, rest);
  return beginBody(reading, head, rest);
}

function beginBody(reading: Reading, head: ResponseHead, rest: Buffer): string | undefined {
  const { framing } = head;
  const isEmpty = framing.kind === 'none' || (framing.kind === 'length' && framing.bytes === 0);
  reading.head = head;
  reading.phase = 'body';
  reading.left = framing.kind === 'length' ? framing.bytes : Number.POSITIVE_INFINITY;
  reading.decoder = framing.kind === 'chunked' ? createChunkedDecoder() : undefined;
  reading.owner.sink()?.head(head, isEmpty || rest.length > 0);
  if (isEmpty) finish(reading, rest);
  else if (rest.length > 0) return receiveBody(reading, rest);
  return undefined;
}

function receiveBody(reading: Reading, bytes: Buffer): string | undefined {
  if (reading.decoder !== undefined) {
    const result = reading.decoder(bytes, (piece) => deliver(reading, piece));
    if (result === 'more') return undefined;
    if ('problem' in result) return result.problem;
    finish(reading, result.rest);
    return undefined;
  }
  const piece = bytes.length > reading.left ? bytes.subarray(0, reading.left) : bytes;
  reading.left -= piece.length;
  deliver(reading, piece);
  if (reading.left === 0) finish(reading, bytes.subarray(piece.length));
  return undefined;
}

function deliver({ owner, left }: Reading, piece: Buffer): void {
  if (owner.sink()?.body(piece, left === 0, owner.letGo) === false) owner.hold();
}

function finish(reading: Reading, rest: Buffer): void {
  reading.phase = 'done';
  reading.hasRest = rest.length > 0;
  reading.owner.complete();
}
