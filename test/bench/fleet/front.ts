import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Front {
  url: string;
  /** Who asked for what, oldest first. */
  readonly requests: { at: number; device: string; line: string }[];
  close: () => void;
}

/** In front of the nodes: each request goes to the next one of them, and is noted. */
export async function startFront(urls: readonly string[]): Promise<Front> {
  const requests: Front['requests'] = [];
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '';
    const [, device = '', rest = ''] = /\/controller\/v1\/([^/?]+)([^?]*)/.exec(path) ?? [];
    requests.push({ at: performance.now(), device, line: `${incoming.method ?? ''} ${rest}` });
    const url = `${urls[requests.length % urls.length] ?? ''}${path}`;
    const { method, headers } = incoming;
    const call = request(url, { method, headers, agent: false }, (answer) =>
      answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)),
    );
    call.once('error', () => response.destroy());
    incoming.pipe(call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A device asks for little between two updates: what it sends without such a pause is one. */
const PAUSE_MS = 8000;

/** @returns how many requests each device needed for an update, from its poll to the last one */
export function requestsAnUpdate({ requests }: Pick<Front, 'requests'>): Map<string, string[]> {
  const runs = new Map<string, { last: number; lines: string[] }>();
  const found = new Map<string, string[]>();
  for (const { at, device, line } of requests) {
    const before = runs.get(device);
    const lines = before !== undefined && at - before.last < PAUSE_MS ? before.lines : [];
    lines.push(line);
    runs.set(device, { last: at, lines });
    if (line.includes('deploymentBase')) found.set(device, lines);
  }
  return found;
}
