import { createServer, type IncomingMessage } from 'node:http';

import { listen, startDevice, stop, type Device } from '../../features/forge/device.ts';

/** A forge device before an upstream that writes down what reaches it. */
export interface WatchedForge {
  readonly port: number;
  /** What has reached the upstream since the last call. */
  readonly drainReceived: () => Received[];
  readonly close: () => Promise<void>;
}

export interface Received {
  method: string;
  url: string;
  rawHeaders: string[];
  body: string;
}

/** The API root at the upstream. */
export const ROOT = '/git/api/v1';

/** @param isLong every request goes through Node's own parser */
export async function startWatchedForge(
  settings: { isLong?: boolean; expose?: 'documented' | 'all' } = {},
): Promise<WatchedForge> {
  let received: Received[] = [];
  const note = (request: IncomingMessage, body: string): void => {
    const { method = '', url = '', rawHeaders } = request;
    received.push({ method, url, rawHeaders, body });
  };
  const upstream = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      note(request, Buffer.concat(pieces).toString('latin1'));
      response.setHeader('Content-Type', 'application/json').end('{"ok":true}');
    });
    request.on('error', () => undefined);
  });
  upstream.on('clientError', (error, socket) => {
    received.push({ method: 'no request', url: error.message, rawHeaders: [], body: '' });
    socket.destroy();
  });
  const upstreamPort = await listen(upstream);
  const device: Device = await startDevice({
    upstream: `http://127.0.0.1:${upstreamPort}/git`,
    ...settings,
  });
  device.log.push = () => 0;
  device.shortcuts.push = () => 0;
  return {
    port: device.port,
    drainReceived: () => {
      const drained = received;
      received = [];
      return drained;
    },
    close: async () => {
      await device.close();
      await stop(upstream);
    },
  };
}
