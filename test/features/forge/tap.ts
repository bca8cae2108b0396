import { connect, createServer, type Socket } from 'node:net';
import { listen } from './device.ts';

/** Sits on the wire in front of a forge and keeps the bytes of both ways. */
export interface Tap {
  url: string;
  /** What passed since the last call. */
  drain: () => { request: Buffer; response: Buffer };
  close: () => Promise<void>;
}

export async function startTap(forgeUrl: string): Promise<Tap> {
  const { hostname, port: forgePort } = new URL(forgeUrl);
  const sockets = new Set<Socket>();
  let requests: Buffer[] = [];
  let responses: Buffer[] = [];
  const server = createServer((near) => {
    const far = connect(Number(forgePort), hostname);
    sockets.add(near).add(far);
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    near
      .on('data', (piece: Buffer) => requests.push(piece) && far.write(piece))
      .on('close', end)
      .on('error', end);
    far
      .on('data', (piece: Buffer) => responses.push(piece) && near.write(piece))
      .on('close', end)
      .on('error', end);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    drain: () => {
      const drained = { request: Buffer.concat(requests), response: Buffer.concat(responses) };
      requests = [];
      responses = [];
      return drained;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A message as it was on the wire, its chunks put together. */
export interface Message {
  firstLine: string;
  lines: string[];
  body: Buffer;
}

export function parseMessage(bytes: Buffer): Message {
  const end = bytes.indexOf('\r\n\r\n');
  const [firstLine = '', ...rest] = bytes.toString('latin1', 0, end).split('\r\n');
  if (/^HTTP\/1\.1 1\d\d /.test(firstLine)) return parseMessage(bytes.subarray(end + 4));
  const lines = rest.flatMap((line) => [
    line.slice(0, line.indexOf(':')),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  const body = bytes.subarray(end + 4);
  return {
    firstLine,
    lines,
    body: /\nTransfer-Encoding: *chunked/i.test(bytes.toString('latin1', 0, end))
      ? unchunk(body)
      : body,
  };
}

function unchunk(bytes: Buffer): Buffer {
  const end = bytes.indexOf('\r\n');
  const size = Number.parseInt(bytes.toString('latin1', 0, end), 16);
  if (!(size > 0)) return Buffer.alloc(0);
  return Buffer.concat([
    bytes.subarray(end + 2, end + 2 + size),
    unchunk(bytes.subarray(end + 2 + size + 2)),
  ]);
}
