import { createHash, type Hash } from 'node:crypto';
import { constants, createReadStream, type ReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDiskFull } from '../../../device/disk/disk-full.ts';
import { freeBytesOf } from '../../../device/disk/space.ts';
import { openPrivateFolder } from '../../../device/private-folder.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import { sizeText } from '../../../format-bytes.ts';
import { fleetFailure } from '../failures.ts';
import type { WantedFile } from '../rollout/work.ts';

/** Answers the bytes of a file from an offset, or all of it. */
export type OpenSource = (from: number) => Promise<IncomingMessage>;

export type Downloads = ReturnType<typeof createDownloads>;

export interface FetchOptions {
  signal: AbortSignal;
  /** Told how many bytes of the file are there. */
  onProgress?: (bytes: number) => void;
  /** No faster than that in the mean; 0: as fast as it comes. */
  bytesPerS?: number;
}

type FileName = Pick<WantedFile, 'sha256' | 'ending'>;

/** Left free beside the files that are fetched. */
const FREE_BYTES = 2 * 1024 ** 2;

/**
 * Files of actions, each named by its SHA-256, never by what the server calls it. Invariants:
 *  - a file under its own name is whole, and has that hash;
 *  - one that is not whole yet ends in `.part`, and goes on where it ends;
 *  - no file grows beyond what was announced, and none begins for which there is no room.
 */
export function createDownloads(folder: string) {
  const fileOf = ({ sha256, ending }: FileName): string => join(folder, `${sha256}.${ending}`);
  const partOf = (file: FileName): string => `${fileOf(file)}.part`;
  /** Another user's folder, or a link of theirs, counts as none: names in it lead anywhere. */
  const inOwnFolder = async <Value>(work: () => Promise<Value>): Promise<Value | undefined> => {
    await using directory = await openPrivateFolder(folder, { isMade: false }).catch(
      () => undefined,
    );
    if (directory === undefined) return undefined;
    return await work();
  };
  const size = async (path: string): Promise<number> =>
    (await stat(path).catch(() => undefined))?.size ?? 0;
  return {
    fileOf,
    /** Whether it is there, whole: read and hashed again. */
    isWhole: async (file: FileName) =>
      (await inOwnFolder(async () => hashOf(fileOf(file)))) === file.sha256,
    /** Bytes that are there of a file, whole or not. */
    size: async (file: FileName) => Math.max(await size(fileOf(file)), await size(partOf(file))),
    /** @throws DepotError too_large, no_space, upstream_unreachable, bad_request: another sum */
    fetch: async (wanted: WantedFile, source: OpenSource, options: FetchOptions) => {
      const part = partOf(wanted);
      await using directory = await openPrivateFolder(folder);
      if ((await hashOf(fileOf(wanted))) === wanted.sha256) return;
      await checkSpace(folder, wanted, await size(part));
      await receive(part, { wanted, options }, source);
      await rename(part, fileOf(wanted));
      await directory.sync();
    },
    /** Removes all others. */
    keepOnly: async (hashes: ReadonlySet<string>): Promise<void> => {
      await inOwnFolder(async () => {
        for (const name of await readdir(folder).catch(() => [])) {
          if (!hashes.has(name.split('.')[0] ?? '')) await rm(join(folder, name), { force: true });
        }
      });
    },
  };
}

async function checkSpace(folder: string, wanted: WantedFile, there: number): Promise<void> {
  const [free, needed] = [await freeBytesOf(folder), wanted.bytes - there + FREE_BYTES];
  if (needed <= free) return;
  throw new DepotError(
    'no_space',
    `cannot download ${wanted.label}: ${sizeText(needed)} are needed, ${sizeText(free)} are free`,
  );
}

async function receive(
  part: string,
  { wanted, options }: { wanted: WantedFile; options: FetchOptions },
  source: OpenSource,
): Promise<void> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  await using file = await open(part, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  const { size } = await file.stat();
  const known = size < wanted.bytes ? size : 0;
  const response = await source(known);
  const from = startOf(response, known, wanted);
  await file.truncate(from);
  const hash = createHash('sha256');
  if (from > 0) await hashInto(hash, createReadStream(part));
  await writeAll(file, { response, from, wanted, hash, options });
  await file.sync();
  const found = hash.digest('hex');
  if (found === wanted.sha256) return;
  await file.truncate(0);
  // The part that was there may be another source's: this one is asked for the whole, once.
  if (from > 0) {
    await receive(part, { wanted, options }, source);
    return;
  }
  throw fleetFailure(
    'bad_request',
    'checksum',
    `cannot use ${wanted.label}: its SHA-256 is ${found}, and ${wanted.sha256} was announced`,
  );
}

/**
 * Where the answer begins (RFC 9110, 14.4 and 15.3.7); a server may send all of it.
 * @throws DepotError upstream_unreachable
 */
function startOf(response: IncomingMessage, known: number, { label }: WantedFile): number {
  const { statusCode = 0, headers } = response;
  const start = /^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1];
  if (statusCode === 200) return 0;
  if (statusCode === 206 && Number(start) === known) return known;
  response.destroy();
  const message = `cannot download ${label}: the fleet server answered ${statusCode}`;
  throw new DepotError('upstream_unreachable', message);
}

async function hashInto(hash: Hash, content: ReadStream): Promise<void> {
  for await (const piece of content as AsyncIterable<Buffer>) hash.update(piece);
}

async function writeAll(
  file: FileHandle,
  task: {
    response: IncomingMessage;
    from: number;
    wanted: WantedFile;
    hash: Hash;
    options: FetchOptions;
  },
): Promise<void> {
  const { response, wanted, hash, options } = task;
  const startMs = performance.now();
  let at = task.from;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      if (at + piece.length > wanted.bytes) {
        const why = `it has more than the ${wanted.bytes} bytes announced`;
        throw fleetFailure('too_large', 'checksum', why);
      }
      hash.update(piece);
      for (let done = 0; done < piece.length;) {
        done += (await file.write(piece, done, piece.length - done, at + done)).bytesWritten;
      }
      at += piece.length;
      options.onProgress?.(at);
      await slowDown(at - task.from, startMs, options);
    }
  } catch (error) {
    response.destroy();
    throw asFailure(wanted, error);
  }
  if (at === wanted.bytes) return;
  const message = `cannot download ${wanted.label}: it ended after ${at} of ${wanted.bytes} bytes`;
  throw new DepotError('upstream_unreachable', message);
}

async function slowDown(bytes: number, startMs: number, { bytesPerS = 0, signal }: FetchOptions) {
  const earlyMs = bytesPerS === 0 ? 0 : (bytes / bytesPerS) * 1000 - (performance.now() - startMs);
  if (earlyMs > 0) await delay(earlyMs, undefined, { signal });
}

function asFailure({ label }: WantedFile, error: unknown): DepotError {
  const isFull = isDiskFull(error);
  const { code, explanation } =
    error instanceof DepotError ? error : { code: 'upstream_unreachable' as const };
  return new DepotError(
    isFull ? 'no_space' : code,
    `cannot download ${label}: ${isFull ? 'the disk is full' : reasonOf(error)}`,
    { cause: error, ...(explanation && { explanation }) },
  );
}

/** @returns undefined if there is no such file */
async function hashOf(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (file === undefined) return undefined;
  const hash = createHash('sha256');
  await hashInto(hash, file.createReadStream());
  return hash.digest('hex');
}
