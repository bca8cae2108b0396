import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import { createFeedFiles, type FeedPackage } from './feed-index.ts';

/**
 * html: a login page with 200, as a captive portal sends it. truncated: the first half, as if it
 * were all. missing: 404. stalled: headers, then silence. closed: the connection ends without an
 * answer. cut: it ends in the middle of the answer. changed: one byte in the middle is another.
 * slow: a piece of 1 KiB every 20 ms. bad-signature: a signature of something else.
 */
export type Fault =
  | 'html'
  | 'truncated'
  | 'missing'
  | 'stalled'
  | 'closed'
  | 'cut'
  | 'changed'
  | 'slow'
  | 'bad-signature';

export interface Feed {
  /**
   * Without a slash at the end, as it stands in a src/gz line. It stays the same while the feed
   * lives.
   */
  readonly url: string;
  /** Serves these packages from now on. */
  readonly publish: (packages: readonly FeedPackage[]) => void;
  /** The same with files that were made elsewhere, by name. */
  readonly publishFiles: (files: ReadonlyMap<string, Buffer>) => void;
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

/** A package feed over HTTP on a port of the loopback interface, a free one unless given. */
export function createFeed(packages: readonly FeedPackage[], port?: number): Promise<Feed> {
  return createFeedOf(createFeedFiles(packages), port);
}

/** The same for files of any kind, by name. */
export async function createFeedOf(
  published: ReadonlyMap<string, Buffer>,
  fixedPort = 0,
): Promise<Feed> {
  let files = published;
  let port = fixedPort;
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
    publish: (packages) => void (files = createFeedFiles(packages)),
    publishFiles: (others) => void (files = others),
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
    case 'cut':
      response.writeHead(200, { 'Content-Length': content.length });
      response.write(content.subarray(0, content.length / 2), () => response.destroy());
      return;
    case 'changed':
      response.writeHead(200, { 'Content-Length': content.length }).end(withOtherByte(content));
      return;
    case 'slow':
      response.writeHead(200, { 'Content-Length': content.length });
      void Readable.from(slowPieces(content)).pipe(response);
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

function withOtherByte(content: Buffer): Buffer {
  const at = Math.floor(content.length / 2);
  const changed = Buffer.from(content);
  changed.writeUInt8(content.readUInt8(at) ^ 0xff, at);
  return changed;
}

async function* slowPieces(content: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += 1024) {
    yield content.subarray(at, at + 1024);
    await delay(20);
  }
}

async function writeFiles(directory: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  await mkdir(directory, { recursive: true });
  await Promise.all([...files].map(([name, content]) => writeFile(join(directory, name), content)));
}
