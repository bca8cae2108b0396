import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { CallerRequest } from '../../../src/features/forge/caller.ts';
import type { ForgeEvent } from '../../../src/features/forge/events.ts';
import type { Forge, ForgeOptions } from '../../../src/features/forge/forge.ts';
import { openForge } from '../../../src/features/forge/feature.ts';
import { putBefore } from './hooked-server.ts';

/** A device's forge half, served on a port of its own. */
export interface Device {
  port: number;
  forge: Forge;
  events: ForgeEvent[];
  /** Every line of its log, as JSON. */
  log: string[];
  /** The targets that took the shortcut. */
  shortcuts: string[];
  close: () => Promise<void>;
}

/** `isLong`: every request goes the long way, through Node's own server. */
export type DeviceSettings = Partial<ForgeOptions['settings']> & {
  session?: ForgeOptions['session'];
  base?: string;
  isLong?: boolean;
};

export async function startDevice({
  session,
  base,
  isLong,
  ...settings
}: DeviceSettings): Promise<Device> {
  const events: ForgeEvent[] = [];
  const log: string[] = [];
  const shortcuts: string[] = [];
  const write = (fields: object, event: string): number =>
    log.push(JSON.stringify({ ...fields, event }));
  const forge = await openForge({
    settings: { ...DEFAULTS, ...settings },
    base: base ?? '/cgi-bin/panel',
    log: { level: 'debug', debug: write, info: write, warn: write, error: write },
    publish: (event) => events.push(event),
    session: session ?? (() => Promise.resolve(undefined)),
  });
  const server = createServer((request, response) => {
    if (forge.owns(request.url ?? '')) forge.handle(request, response);
    else response.writeHead(418).end('not the forge half');
  });
  const isNoted = (request: CallerRequest): boolean => {
    shortcuts.push(request.url ?? '');
    return true;
  };
  const hook = forge.hook(isNoted);
  if (isLong !== true && hook !== undefined) putBefore(server, hook);
  const port = await listen(server);
  const close = async (): Promise<void> => {
    forge.close();
    await stop(server);
  };
  return { port, forge, events, log, shortcuts, close };
}

export const DEFAULTS: ForgeOptions['settings'] = {
  upstream: '',
  path: '/api/v1',
  expose: 'documented',
  token_file: '',
  ca_file: '',
  connect_timeout_s: 5,
  first_byte_timeout_s: 5,
  idle_timeout_s: 5,
};

export async function listen(
  server: {
    listen: (port: number, host: string) => unknown;
    address: () => string | AddressInfo | null;
  } & NodeJS.EventEmitter,
): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('cannot listen on a port');
  return address.port;
}

export async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

export interface Answer {
  status: number;
  reason: string;
  /** name, value, … as they came. */
  lines: string[];
  header: (name: string) => string | undefined;
  body: Buffer;
  /** Whether the connection broke before the end of the answer. */
  isBroken: boolean;
}

export interface Asking {
  method?: string;
  headers?: string[] | Record<string, string | string[]>;
  body?: string | Buffer;
}

/** One request by Node's own client, on a connection of its own. */
export async function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: Asking = {},
): Promise<Answer> {
  const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return collect(response);
}

export async function collect(response: IncomingMessage): Promise<Answer> {
  const pieces: Buffer[] = [];
  let isBroken = false;
  try {
    for await (const piece of response) pieces.push(piece as Buffer);
  } catch {
    // Node reports an answer that broke off as an error while reading.
    isBroken = true;
  }
  const { statusCode = 0, statusMessage = '', rawHeaders } = response;
  return {
    status: statusCode,
    reason: statusMessage,
    lines: rawHeaders,
    header: (name) => valueOf(rawHeaders, name),
    body: Buffer.concat(pieces),
    isBroken,
  };
}

/** All values of a header, joined with `, `. */
export function valueOf(lines: string[], name: string): string | undefined {
  const values = lines.filter(
    (_, index) => index % 2 === 1 && lines[index - 1]?.toLowerCase() === name.toLowerCase(),
  );
  return values.length === 0 ? undefined : values.join(', ');
}

/** Writes these very bytes and returns what comes back until the other side closes. */
export async function askRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const pieces: Buffer[] = [];
  socket.on('data', (piece) => pieces.push(piece));
  socket.on('error', () => undefined);
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return Buffer.concat(pieces).toString('latin1');
}
