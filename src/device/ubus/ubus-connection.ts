import { connect, type Socket } from 'node:net';
import { DepotError, reasonOf } from '../../errors.ts';
import {
  readAttributes,
  readTable,
  sizeIn,
  writeAttribute,
  writeTable,
  writeText,
  type UbusTable,
  type Wanted,
} from './blob.ts';

/** What an object answered: a status of libubus, and the messages before it. */
export interface UbusReply {
  status: number;
  messages: UbusTable[];
}

export interface UbusCall {
  /** Path of an object of ubus, or the id of one that is ubusd's own. */
  object: string | number;
  method: string;
  message: UbusTable;
  /** What of the answers is read; all of it unless said otherwise. */
  wanted?: Wanted;
}

/** enum ubus_msg_status. */
export const UBUS_STATUS = { ok: 0, invalidArgument: 2, notFound: 4, permissionDenied: 6 } as const;

/** enum ubus_msg_type. */
const MESSAGE = { hello: 0, status: 1, data: 2, lookup: 4, invoke: 5 };
/** enum ubus_msg_attr. */
const ATTRIBUTE = { status: 1, objectPath: 2, objectId: 3, method: 4, data: 7 };

/** struct ubus_msghdr, and the first word of the frame's blob. */
const HEADER_BYTES = 8;
const HEAD_BYTES = HEADER_BYTES + 4;
/** ubusd's UBUS_MAX_MSGLEN. */
const MOST_FRAME_BYTES = 1024 ** 2;
/** Most bytes of one connection: a list of sessions has some 8 KB for each. */
const MOST_BYTES = 4 * 1024 ** 2;

interface Reply extends UbusReply {
  /** Id of the object that a lookup on the bus found. */
  objectId?: number | undefined;
}

interface Request {
  wanted: Wanted;
  /** The reply as far as it has come. */
  reply: Reply;
  resolve: (reply: Reply) => void;
}

interface UbusOptions {
  socketPath: string;
  /** Limit for all calls of the connection, counted from now. */
  timeoutMs: number;
}

/**
 * Calls methods over a connection of its own to ubusd: an object has another id after its program
 * was started again, so neither it nor the connection is kept. What is sent, a password too, passes
 * through ubusd's socket and nothing else.
 * @param use gets the function that calls; several calls may be under way at once
 * @throws DepotError unavailable if ubusd cannot be reached or does not answer in time, or nobody
 *   offers the object
 */
export async function withUbus<Value>(
  { socketPath, timeoutMs }: UbusOptions,
  use: (call: (call: UbusCall) => Promise<UbusReply>) => Promise<Value>,
): Promise<Value> {
  const socket = connect(socketPath);
  try {
    return await Promise.race([use(createCaller(socket)), failureOf(socket, timeoutMs)]);
  } catch (error) {
    if (error instanceof DepotError) throw error;
    throw new DepotError('unavailable', `cannot ask ubus at ${socketPath}: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    socket.destroy();
  }
}

/** UBUS_SYSTEM_OBJECT_EVENT: ubusd's own object, which hands an event to whoever listens. */
const EVENTS = 1;

/** What `ubus send ID DATA` does. @throws DepotError as `withUbus` does */
export async function sendUbusEvent(options: UbusOptions, id: string, data: UbusTable) {
  const event = { object: EVENTS, method: 'send', message: { id, data } };
  await withUbus(options, (call) => call(event));
}

/** Settles only with what keeps the connection from being used any longer. */
function failureOf(socket: Socket, timeoutMs: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      reject(new Error('the connection was closed'));
    });
  });
}

/** Requests go out at once; ubusd says hello by itself and reads on meanwhile. */
function createCaller(socket: Socket): (call: UbusCall) => Promise<UbusReply> {
  const requests = new Map<number, Request>();
  const objectIds = new Map<string, Promise<number>>();
  let lastSequence = 0;
  readFrames(socket, (type, sequence, attributes) => {
    const request = requests.get(sequence);
    if (request === undefined || type === MESSAGE.hello) return;
    if (receive(request, type, attributes)) requests.delete(sequence);
  });

  const send = (
    type: number,
    { peer, attributes, wanted }: { peer: number; attributes: Buffer[]; wanted: Wanted },
  ): Promise<Reply> =>
    new Promise((resolve) => {
      lastSequence += 1;
      const reply = { status: UBUS_STATUS.ok, messages: [] };
      requests.set(lastSequence, { wanted, reply, resolve });
      socket.write(writeFrame({ type, sequence: lastSequence, peer }, attributes));
    });

  const lookUp = async (object: string): Promise<number> => {
    const attributes = [writeAttribute(ATTRIBUTE.objectPath, writeText(object))];
    const { objectId } = await send(MESSAGE.lookup, { peer: 0, attributes, wanted: {} });
    if (objectId === undefined) throw new Error(`nobody offers the object ${object}`);
    return objectId;
  };

  const idOf = (object: string): Promise<number> => {
    const found = objectIds.get(object) ?? lookUp(object);
    objectIds.set(object, found);
    return found;
  };

  return async ({ object, method, message, wanted = true }) => {
    const objectId = typeof object === 'number' ? object : await idOf(object);
    const attributes = [
      writeAttribute(ATTRIBUTE.objectId, writeNumber(objectId)),
      writeAttribute(ATTRIBUTE.method, writeText(method)),
      writeAttribute(ATTRIBUTE.data, writeTable(message)),
    ];
    return send(MESSAGE.invoke, { peer: objectId, attributes, wanted });
  };
}

/** @returns whether the request has its whole answer */
function receive(
  { wanted, reply, resolve }: Request,
  type: number,
  attributes: ReadonlyMap<number, Buffer>,
): boolean {
  if (type === MESSAGE.data) {
    reply.objectId ??= attributes.get(ATTRIBUTE.objectId)?.readUInt32BE();
    const data = attributes.get(ATTRIBUTE.data);
    if (data !== undefined) reply.messages.push(readTable(data, wanted));
  }
  if (type !== MESSAGE.status) return false;
  reply.status = attributes.get(ATTRIBUTE.status)?.readInt32BE() ?? UBUS_STATUS.ok;
  resolve(reply);
  return true;
}

type FrameReader = (
  type: number,
  sequence: number,
  attributes: ReadonlyMap<number, Buffer>,
) => void;

/** Cuts what comes into frames. What is no frame, or too much, ends the connection. */
function readFrames(socket: Socket, onFrame: FrameReader): void {
  let rest: Buffer = Buffer.alloc(0);
  let bytes = 0;
  socket.on('data', (piece: Buffer) => {
    bytes += piece.length;
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    try {
      if (bytes > MOST_BYTES) throw new RangeError(`more than ${MOST_BYTES} bytes came`);
      rest = readWholeFrames(rest, onFrame);
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** @returns the beginning of a frame that has not come whole */
function readWholeFrames(buffer: Buffer, onFrame: FrameReader): Buffer {
  let at = 0;
  while (buffer.length - at >= HEAD_BYTES) {
    const size = sizeIn(buffer.readUInt32BE(at + HEADER_BYTES));
    if (buffer.readUInt8(at) !== 0 || size < 4 || size > MOST_FRAME_BYTES) {
      throw new RangeError('what came is no frame of ubus');
    }
    if (buffer.length - at < HEADER_BYTES + size) break;
    const body = buffer.subarray(at + HEAD_BYTES, at + HEADER_BYTES + size);
    const attributes = new Map(readAttributes(body).map(({ id, data }) => [id, data]));
    onFrame(buffer.readUInt8(at + 1), buffer.readUInt16BE(at + 2), attributes);
    at += HEADER_BYTES + size;
  }
  return buffer.subarray(at);
}

function writeFrame(
  { type, sequence, peer }: { type: number; sequence: number; peer: number },
  attributes: readonly Buffer[],
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(type, 1);
  header.writeUInt16BE(sequence, 2);
  header.writeUInt32BE(peer, 4);
  return Buffer.concat([header, writeAttribute(0, Buffer.concat(attributes))]);
}

function writeNumber(value: number): Buffer {
  const data = Buffer.alloc(4);
  data.writeUInt32BE(value);
  return data;
}
