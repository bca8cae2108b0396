import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, expect } from 'vitest';

import type { TestDaemon } from '../../device/daemon.ts';

/** What may stand in the place of the custom feeds file, why it is not used, and how it is made. */
export const ODD_FILES: [what: string, reason: string, make: (file: string) => unknown][] = [
  ['a fifo', 'it is no file', (file) => void execFileSync('mkfifo', [file])],
  ['a folder', 'it is no file', (file) => mkdir(file)],
  ['a link to a folder', 'it is no file', (file) => symlink('/etc', file)],
  [
    'a link to nowhere below a file',
    '/etc/passwd is no folder',
    (file) => symlink('/etc/passwd/x', file),
  ],
  [
    'two megabytes',
    'larger than 1048576 bytes',
    (file) => writeFile(file, '#'.repeat(2 * 1024 ** 2)),
  ],
];

type Send = (response: ServerResponse) => void;

/** A server of a feed, for the tests of one `describe`, that answers whatever it is told to. */
export function prepareServer(): { sends: (send: Send) => void; url: () => string } {
  let server: Server;
  let sent: Send;
  beforeEach(async () => {
    server = createServer((_, response) => sent(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    sends: (send) => (sent = send),
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed`,
  };
}

export function redirectTo(location: string): Send {
  return (response) => void response.writeHead(302, { Location: location }).end();
}

/** Eight requests at once, which whatever lies among the lists must not hold up. */
export async function expectFeedsAnswered({ url, base }: TestDaemon): Promise<void> {
  const ask = async (): Promise<number> => {
    const signal = AbortSignal.timeout(10_000);
    return (await fetch(`${url}${base}/admin/store/feeds`, { signal })).status;
  };
  const eight = Array.from({ length: 8 }, ask);
  expect(await Promise.all(eight)).toEqual(Array(8).fill(200));
}

export function sendForEver(response: ServerResponse): void {
  // Of what has no body nothing is ever too much to write.
  if (response.req.method === 'HEAD') return void response.end();
  const piece = Buffer.alloc(1024 ** 2, 'Package: x\n');
  const send = (): void => {
    let isFull = false;
    while (!isFull && !response.destroyed) isFull = !response.write(piece);
  };
  response.on('drain', send);
  send();
}
