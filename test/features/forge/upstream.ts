import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { listen, stop } from './device.ts';

/** A stand-in for the forge. It keeps what it was asked. */
export interface Upstream {
  url: string;
  asked: Asked[];
  /** How many connections were opened to it. */
  connections: () => number;
  close: () => Promise<void>;
}

export interface Asked {
  method: string;
  target: string;
  lines: string[];
  headers: IncomingMessage['headers'];
  body: string;
}

/** Answers through Node's own server. */
export async function startUpstream(
  answer: (response: ServerResponse, asked: Asked) => void,
): Promise<Upstream> {
  const asked: Asked[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { method = '', url = '', rawHeaders, headers } = request;
      const one = {
        method,
        target: url,
        lines: rawHeaders,
        headers,
        body: Buffer.concat(pieces).toString('latin1'),
      };
      asked.push(one);
      answer(response, one);
    });
  });
  server.on('connection', () => (connections += 1));
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    connections: () => connections,
    close: () => stop(server),
  };
}

export interface RawUpstream {
  url: string;
  /** Everything that was sent to it, latin1, one text a connection. */
  received: string[];
  sockets: Set<Socket>;
  close: () => Promise<void>;
}

/**
 * Answers each request head with whatever bytes the test wants. @param play called once a request,
 * when its head has come
 */
export async function startRawUpstream(
  play: (socket: Socket, count: number) => void,
): Promise<RawUpstream> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createTcpServer((socket) => {
    const position = received.push('') - 1;
    let seen = 0;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (piece) => {
      const text = (received[position] ?? '') + piece.toString('latin1');
      received[position] = text;
      const heads = text.split('\r\n\r\n').length - 1;
      for (; seen < heads; seen += 1) play(socket, (count += 1));
    });
  });
  const port = await listen(server);
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, received, sockets, close };
}
