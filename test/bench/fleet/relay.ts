import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Relay {
  url: string;
  /** Who asked for what, oldest first. */
  readonly requests: { at: number; device: string; line: string }[];
  close: () => void;
}

/** In front of the nodes: each request goes to the next one of them, and is noted. */
export async function startRelay(urls: readonly string[]): Promise<Relay> {
  const requests: Relay['requests'] = [];
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

/** Polls by a device's timer are that far apart. */
const PAUSE_MS = 8000;
const POLL = 'GET ';

/**
 * @returns what each device that was offered something asked for: the poll that offered it, and all
 * but the further polls of its timer
 */
export function requestsAnUpdate({ requests }: Pick<Relay, 'requests'>): string[][] {
  const devices = new Map<string, { last: number; lines: string[] }>();
  for (const { at, device, line } of requests) {
    const seen = devices.get(device) ?? { last: -Infinity, lines: [POLL] };
    if (line !== POLL || at - seen.last < PAUSE_MS) seen.lines.push(line);
    devices.set(device, { ...seen, last: at });
  }
  return [...devices.values()]
    .map(({ lines }) => lines)
    .filter((lines) => lines.some((line) => line.includes('deploymentBase')));
}
