import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { DepotError, reasonOf, systemCode } from '../errors.ts';
import type { StreamedBody } from './http-call.ts';

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a folder',
};

/**
 * A form with one file in it (RFC 7578), read piece by piece while it is sent.
 * @param onSent gets the bytes of the file that were handed on, and how many it has
 * @throws DepotError bad_request if there is no such file, here or from the body
 */
export async function openUpload(
  path: string,
  onSent: (sentBytes: number, sizeBytes: number) => void,
): Promise<StreamedBody> {
  const boundary = `depotctl-${randomBytes(16).toString('hex')}`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; ` +
      `filename="${quotedName(path)}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const file = await open(path, 'r').catch((error: unknown) =>
    Promise.reject(unreadable(path, error)),
  );
  const stat = await file.stat();
  if (!stat.isFile()) {
    await file.close();
    throw new DepotError('bad_request', `cannot send ${path}: it is not a file`);
  }
  const { size: sizeBytes } = stat;
  async function* pieces(): AsyncGenerator<Buffer, void> {
    yield head;
    let sentBytes = 0;
    try {
      for await (const piece of file.createReadStream({ end: Math.max(0, sizeBytes - 1) })) {
        yield piece as Buffer;
        sentBytes += (piece as Buffer).length;
        onSent(sentBytes, sizeBytes);
      }
    } catch (error) {
      throw unreadable(path, error);
    }
    if (sentBytes !== sizeBytes) {
      throw new DepotError('bad_request', `cannot send ${path}: it changed while it was read`);
    }
    yield tail;
  }
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: head.length + sizeBytes + tail.length,
    content: Readable.from(pieces(), { objectMode: false }),
  };
}

/** Why a file of the caller's cannot be read. */
export function whyUnread(error: unknown): string {
  return REASONS[systemCode(error) ?? ''] ?? reasonOf(error);
}

function unreadable(path: string, error: unknown): DepotError {
  return new DepotError('bad_request', `cannot send ${path}: ${whyUnread(error)}`, {
    cause: error,
  });
}

/** What would end the name is written as browsers do (HTML standard, "Multipart form data"). */
function quotedName(path: string): string {
  return basename(path).replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}
