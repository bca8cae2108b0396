import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { createFeedFiles, type FeedPackage } from './feed-index.ts';

/**
 * html: a login page with 200, as a captive portal sends it. truncated: the first half, as if it
 * were all. missing: 404. stalled: headers, then silence. closed: the connection ends without an
 * answer. bad-signature: a signature of something else.
 */
export type Fault = 'html' | 'truncated' | 'missing' | 'stalled' | 'closed' | 'bad-signature';

export interface Feed {
  /**
   * Without a slash at the end, as it stands in a src/gz line. It stays the same while the feed
   * lives.
   */
  readonly url: string;
  /** Serves these packages from now on. */
  readonly publish: (packages: readonly FeedPackage[]) => void;
  /** Makes one file, such as "Packages.gz", go wrong until `behave` is called. */
  readonly misbehave: (fileName: string, fault: Fault) => void;
  readonly behave: () => void;
  /** Refuses connections until `listen` is called. */
  readonly refuse: () => Promise<void>;
  readonly listen: () => Promise<void>;
  /** How often a file was asked for, answered or not; without a name, how often any was. */
  readonly requests: (fileName?: string) => number;
  /** The same feed as files, for a `src NAME file:…` line. */
  readonly writeTo: (directory: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const FOLDER = '/feed/';

/** A package feed over HTTP on a free port of the loopback interface. */
export async function createFeed(packages: readonly FeedPackage[]): Promise<Feed> {
  let files = createFeedFiles(packages);
  let port = 0;
  const faults = new Map<string, Fault>();
  const asked: string[] = [];

  const server = createServer((request, response) => {
    const name = fileNameOf(request);
    asked.push(name);
    answer(response, files.get(name), faults.get(name));
  });
  const listen = async (): Promise<void> => {
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  const refuse = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };

  await listen();
  return {
    url: `http://127.0.0.1:${port}${FOLDER.slice(0, -1)}`,
    publish: (published) => void (files = createFeedFiles(published)),
    misbehave: (fileName, fault) => void faults.set(fileName, fault),
    behave: () => faults.clear(),
    refuse,
    listen,
    requests: (fileName) =>
      asked.filter((name) => fileName === undefined || name === fileName).length,
    writeTo: (directory) => writeFiles(directory, files),
    close: refuse,
  };
}

function fileNameOf(request: IncomingMessage): string {
  const path = decodeURIComponent(request.url ?? '');
  return path.startsWith(FOLDER) ? path.slice(FOLDER.length) : path;
}

function answer(
  response: ServerResponse,
  content: Buffer | undefined,
  fault: Fault | undefined,
): void {
  if (content === undefined || fault === 'missing') {
    response.writeHead(404).end();
    return;
  }
  switch (fault) {
    case 'closed':
      response.destroy();
      return;
    case 'stalled':
      response.writeHead(200, { 'Content-Length': content.length }).flushHeaders();
      return;
    case 'html':
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>login</html>\n');
      return;
    case 'truncated':
      response.writeHead(200).end(content.subarray(0, content.length / 2));
      return;
    case 'bad-signature':
      response.writeHead(200).end(`${'0'.repeat(64)}\n`);
      return;
    case undefined:
      response.writeHead(200, { 'Content-Length': content.length }).end(content);
  }
}

async function writeFiles(directory: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  await mkdir(directory, { recursive: true });
  await Promise.all([...files].map(([name, content]) => writeFile(join(directory, name), content)));
}
