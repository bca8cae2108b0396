import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  method: string | undefined;
  target: string | undefined;
  headers: Record<string, string[] | undefined>;
  size: number;
  hash: string;
}

export function respondWithRequest(request: IncomingMessage, response: ServerResponse): void {
  const hash = createHash('sha256');
  let size = 0;
  request.on('data', (piece: Buffer) => {
    size += piece.length;
    hash.update(piece);
  });
  request.on('end', () => {
    const came: Received = {
      method: request.method,
      target: request.url,
      headers: request.headersDistinct,
      size,
      hash: hash.digest('hex'),
    };
    response.end(JSON.stringify(came));
  });
}

/** @returns the body, chunks taken apart */
export async function exchangeBytes(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.write(bytes));
  const [head = '', body = ''] = (await text(socket)).split(/\r\n\r\n(.*)/s);
  return /transfer-encoding: chunked/i.test(head)
    ? body.replace(/[0-9a-f]+\r\n(.*?)\r\n(?=[0-9a-f]+\r\n)/gs, '$1').replace(/0\r\n\r\n$/, '')
    : body;
}

export async function openLines(
  url: string,
): Promise<{ next: () => Promise<string>; close: () => void }> {
  const leaving = new AbortController();
  const { body } = await fetch(url, { signal: leaving.signal });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  return { next: async () => (await reader?.read())?.value ?? '', close: () => leaving.abort() };
}
