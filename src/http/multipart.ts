import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Busboy } from 'busboy';
import { DepotError, reasonOf } from '../errors.ts';

/** A file on its way in. */
export interface FilePart {
  /** The file's name as the sender wrote it. */
  name: string | undefined;
  content: AsyncIterable<Uint8Array>;
}

export interface ReceiveOptions<Result> {
  /** Reads the file to its end. What it throws refuses the request. */
  receive: (part: FilePart) => Promise<Result>;
  /**
   * Looks at the fields beside the file, by name; what is thrown refuses the request. So does a
   * field that is not here, which might have been meant to hold the file back (`dry_run=1`), unless
   * its name begins with `_`. Without this all are let be.
   */
  fields?: Readonly<Record<string, (value: string) => void>>;
  /** Undoes what was received, if the rest of the request turns out bad. */
  discard: (result: Result) => Promise<void>;
  /** Limit for the silence between two pieces; default 30 s. */
  idleMs?: number;
}

/**
 * A form with one file, whatever its field is called (RFC 7578), read no faster than the file is
 * received. @throws DepotError wrong_content_type, bad_request, and what `receive` throws; then
 * nothing of the file is left
 */
export async function receiveFile<Result>(
  incoming: IncomingMessage,
  { receive, fields, discard, idleMs = 30_000 }: ReceiveOptions<Result>,
): Promise<Result> {
  const parser = await createParser(incoming);
  let received: Promise<Result> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      parser.on('file', (_field, content, { filename }) => {
        // An error of the file is one of the form, too; it is reported there.
        content.on('error', () => undefined);
        if (received !== undefined) reject(bad('it has more than one file'));
        received ??= receive({ name: filename, content: content as AsyncIterable<Uint8Array> });
        received.catch(reject);
      });
      parser.on('field', (name, value) => {
        try {
          if (fields !== undefined) checkField(fields, name, value);
        } catch (error) {
          reject(error instanceof DepotError ? error : bad(reasonOf(error)));
        }
      });
      for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
        parser.on(limit, () => reject(bad('it has too many parts')));
      }
      parser.on('error', (error) => reject(bad(reasonOf(error))));
      parser.on('close', resolve);
      feed(incoming, parser, { idleMs, onBroken: reject });
    });
    if (received === undefined) throw bad('it has no file');
    return await received;
  } catch (error) {
    incoming.unpipe(parser);
    parser.destroy();
    await received?.then(discard, () => undefined);
    throw error;
  }
}

function checkField(
  fields: NonNullable<ReceiveOptions<unknown>['fields']>,
  name: string,
  value: string,
): void {
  if (Object.hasOwn(fields, name)) fields[name]?.(value);
  else if (!name.startsWith('_')) throw bad(`nobody knows its field ${name.slice(0, 100)}`);
}

function bad(why: string): DepotError {
  return new DepotError('bad_request', `cannot read the upload: ${why}`);
}

async function createParser({ headers }: IncomingMessage): Promise<Busboy> {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*(;|$)/i.test(type)) {
    throw new DepotError(
      'wrong_content_type',
      `cannot read a body of the type "${type.slice(0, 100)}": multipart/form-data is expected`,
    );
  }
  const { default: busboy } = await import('busboy');
  try {
    // One file more than is accepted, so that a second one is noticed; fields are read over.
    return busboy({
      headers,
      defParamCharset: 'utf8',
      limits: {
        files: 2,
        fields: 16,
        parts: 18,
        fieldSize: 4096,
        fieldNameSize: 1024,
        headerPairs: 20,
      },
    });
  } catch (error) {
    throw bad(reasonOf(error));
  }
}

/** Pipes the request in, and reports when its sender goes away or falls silent. */
function feed(
  incoming: IncomingMessage & Readable,
  parser: Writable,
  { idleMs, onBroken }: { idleMs: number; onBroken: (error: DepotError) => void },
): void {
  const timer = setTimeout(() => {
    // The disk is what is slow while the request is held back.
    if (incoming.isPaused()) timer.refresh();
    else onBroken(bad(`nothing came for ${idleMs / 1000} s`));
  }, idleMs);
  const onData = (): void => void timer.refresh();
  incoming.on('data', onData);
  incoming.on('close', () => {
    if (!incoming.complete) onBroken(bad('the sender went away'));
  });
  incoming.on('error', () => onBroken(bad('the sender went away')));
  parser.on('close', () => {
    clearTimeout(timer);
    incoming.off('data', onData);
  });
  incoming.pipe(parser);
}
