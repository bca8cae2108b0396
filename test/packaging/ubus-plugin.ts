import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { compileFunction } from 'node:vm';

/**
 * A stand-in for rpcd (4476687) with its ucode plugin, for machines that have neither: it loads the
 * plugin, which keeps to what ucode and ECMAScript have in common, and calls its methods. It knows
 * of ucode's functions and of the modules socket and uloop what the plugin uses, and no more.
 */
export interface UbusObject {
  readonly methods: readonly string[];
  readonly call: (method: string, args?: object) => Promise<{ status: number; reply?: object }>;
}

type Request = { args: object } & Record<'reply' | 'error' | 'defer', (...all: never[]) => unknown>;
type Method = { args?: Readonly<Record<string, unknown>>; call: (request: Request) => unknown };

const STATUS = {
  ...{ OK: 0, INVALID_ARGUMENT: 2, METHOD_NOT_FOUND: 3, NOT_FOUND: 4, NO_DATA: 5 },
  ...{ PERMISSION_DENIED: 6, TIMEOUT: 7, NOT_SUPPORTED: 8, UNKNOWN_ERROR: 9 },
  CONNECTION_FAILED: 10,
};

export function loadPlugin(file: string, ownerSocket: string): UbusObject {
  const uci = { cursor: () => ({ get: optionOf }) };
  const optionOf = (_file: string, _section: string, name: string): string | undefined =>
    name === 'owner_socket' ? ownerSocket : undefined;
  const find = (name: string): object => (name === 'uci' ? uci : moduleNamed(name));
  const names = { ...FUNCTIONS, require: find };
  const constants = Object.entries(STATUS).map(([name, value]) => [`UBUS_STATUS_${name}`, value]);
  const globals = { ...names, ...(Object.fromEntries(constants) as object) };
  const load = compileFunction(readFileSync(file, 'utf8'), Object.keys(globals)) as (
    ...values: unknown[]
  ) => unknown;
  const plugin = load(...Object.values(globals)) as { depotd: Record<string, Method> };
  return {
    methods: Object.keys(plugin.depotd),
    call: (name, args = {}) => callMethod(plugin.depotd[name], args),
  };
}

/** As rpcd does it: names and types of arguments first, then one answer, now or later. */
function callMethod(
  method: Method | undefined,
  args: object,
): Promise<{ status: number; reply?: object }> {
  if (method === undefined) return Promise.resolve({ status: STATUS.METHOD_NOT_FOUND });
  const isKnown = Object.entries(args).every(
    ([name, value]) =>
      method.args !== undefined &&
      Object.hasOwn(method.args, name) &&
      typeOf(method.args[name]) === typeOf(value),
  );
  if (!isKnown) return Promise.resolve({ status: STATUS.INVALID_ARGUMENT });
  return new Promise((resolve) => {
    const deferred = {};
    const answer = method.call({
      args,
      reply: (reply: object, status = STATUS.OK) => resolve({ status, reply }),
      error: (status: number) => resolve({ status }),
      defer: () => deferred,
    });
    if (answer !== deferred && answer === null) resolve({ status: STATUS.NO_DATA });
  });
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

const FUNCTIONS = {
  length: (value: string | unknown[]) => value.length,
  ord: (text: string, at: number) => text.charCodeAt(at),
  chr: (code: number) => String.fromCharCode(code),
  sprintf: (format: string, byte: number) => {
    if (format !== '%%%02X') throw new Error(`not acted out: the format ${format}`);
    return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  },
  push: (list: unknown[], value: unknown) => list.push(value),
  join: (separator: string, list: string[]) => list.join(separator),
  map: (list: unknown[], make: (value: unknown) => unknown) => list.map((value) => make(value)),
  type: typeOf,
  index: (text: string, part: string) => text.indexOf(part),
  substr: (text: string, at: number, size?: number) =>
    text.slice(at, size === undefined ? undefined : at + size),
  lc: (text: string) => text.toLowerCase(),
  match: (text: string, expression: RegExp) => expression.exec(text),
  int: Number,
  json: (text: string) => JSON.parse(Buffer.from(text, 'latin1').toString('utf8')) as unknown,
};

interface Daemon {
  socket: Socket;
  received: Buffer;
  hasEnded: boolean;
}

function moduleNamed(name: string): object {
  if (name === 'socket') return { MSG_DONTWAIT: 1, connect: open };
  if (name === 'uloop') return { ULOOP_READ: 1, handle: watch, timer: startTimer };
  throw new Error(`there is no module ${name}`);
}

const daemons = new WeakMap<object, Daemon>();

/** Node tells of a socket that is not there later than ucode: the plugin then sees it end. */
function open(path: string): object {
  const daemon: Daemon = { socket: connect(path), received: Buffer.alloc(0), hasEnded: false };
  daemon.socket.on('data', (data) => (daemon.received = Buffer.concat([daemon.received, data])));
  const handle = {
    send: (text: string) => (daemon.socket.write(text, 'latin1'), text.length),
    recv: (size: number) => {
      const piece = daemon.received.subarray(0, size);
      daemon.received = daemon.received.subarray(piece.length);
      return piece.length === 0 && !daemon.hasEnded ? null : piece.toString('latin1');
    },
    close: () => daemon.socket.destroy(),
  };
  daemons.set(handle, daemon);
  return handle;
}

function watch(handle: object, callback: () => void): { delete: () => void } {
  const daemon = daemons.get(handle);
  let isOver = false;
  const notify = (): void => {
    if (!isOver) callback();
  };
  daemon?.socket.on('data', notify);
  daemon?.socket.on('error', () => undefined);
  daemon?.socket.on('close', () => {
    daemon.hasEnded = true;
    notify();
  });
  return { delete: () => (isOver = true) };
}

function startTimer(ms: number, callback: () => void): { cancel: () => void } {
  const timer = setTimeout(callback, ms);
  return { cancel: () => clearTimeout(timer) };
}
