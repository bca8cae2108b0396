import { PassThrough } from 'node:stream';
import type { IncomingMessage } from 'node:http';

import * as fc from 'fast-check';

import { DepotError } from '../../../src/errors.ts';
import { cookieValues } from '../../../src/features/login/session-cookie.ts';
import { readForm } from '../../../src/http/form.ts';
import { receiveFile } from '../../../src/http/multipart.ts';
import { inPieces, mutated, pieceSizes, property, type FuzzTarget } from '../target.ts';

/** Parsers of what a stranger sends to the daemon itself. */
export function httpPartTargets(): FuzzTarget[] {
  return [cookies(), cookieJunk(), form(), upload(), uploadJunk()];
}

const cookieName = fc.constantFrom('sysauth', 'sysauth_http', 'depotd_session', 'a', 'A');
const cookieValue = fc.stringMatching(/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{0,12}$/);
const NAMES = ['sysauth_https', 'sysauth_http', 'sysauth'];

function cookies(): FuzzTarget {
  return property('cookies', 3000, {
    inputs: fc.array(fc.tuple(cookieName, cookieValue, fc.boolean()), { maxLength: 6 }),
    check: (pairs) => {
      const text = pairs
        .map(([name, value, isQuoted]) => `${name}=${isQuoted ? `"${value}"` : value}`)
        .join('; ');
      const found = cookieValues(new Headers({ cookie: text }), NAMES);
      const expected = NAMES.flatMap((wanted) =>
        pairs.filter(([name]) => name === wanted).map(([, value]) => value),
      );
      return found.join('\n') === expected.join('\n') ? undefined : `${text}: ${found.join()}`;
    },
  });
}

function cookieJunk(): FuzzTarget {
  const text = fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,60}$/);
  return property('cookies junk', 3000, {
    inputs: text,
    check: (value) => {
      const found = cookieValues(new Headers({ cookie: value }), NAMES);
      return found.every((each) => value.includes(each)) ? undefined : 'a value that nobody sent';
    },
  });
}

/** A request whose body comes in pieces. */
function incoming(
  body: Buffer,
  sizes: readonly number[],
  headers: Record<string, string>,
): IncomingMessage {
  const stream = Object.assign(new PassThrough(), { headers, complete: false });
  const send = async (): Promise<void> => {
    for await (const piece of inPieces(body, sizes)) stream.write(piece);
    stream.complete = true;
    stream.end();
  };
  void send();
  return stream as unknown as IncomingMessage;
}

function form(): FuzzTarget {
  return property('form', 300, {
    inputs: fc.tuple(fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 8 }), pieceSizes),
    check: async ([pairs, sizes]) => {
      const sent = new URLSearchParams(pairs);
      const body = Buffer.from(sent.toString());
      const got = new URLSearchParams(await readForm(incoming(body, sizes, {})));
      return got.toString() === sent.toString() ? undefined : `read as ${got.toString()}`;
    },
  });
}

const BOUNDARY = 'fuzz-boundary-0123456789';
const TYPE = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
/** What stands behind the last slash counts, and a name of dots alone is none. */
const fileName = fc.stringMatching(/^[A-Za-z0-9 ._é-]{0,19}[A-Za-z0-9]$/);
const content = fc
  .uint8Array({ maxLength: 3000 })
  .map((bytes) => Buffer.from(bytes))
  .filter((bytes) => !bytes.includes(BOUNDARY));
const file = fc.record({
  name: fileName,
  content,
  fields: fc.array(fc.string({ maxLength: 9 }), { maxLength: 3 }),
});

function bodyOf(sent: { name: string; content: Buffer; fields: string[] }): Buffer {
  const part = (head: string, bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`), bytes, Buffer.from('\r\n')]);
  return Buffer.concat([
    ...sent.fields.map((value, index) =>
      part(`Content-Disposition: form-data; name="f${index}"`, Buffer.from(value)),
    ),
    part(`Content-Disposition: form-data; name="file"; filename="${sent.name}"`, sent.content),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);
}

async function receive(
  body: Buffer,
  sizes: readonly number[],
): Promise<{ name: string; content: Buffer }> {
  return receiveFile(incoming(body, sizes, TYPE), {
    idleMs: 5000,
    discard: () => Promise.resolve(),
    receive: async (part) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of part.content) pieces.push(piece);
      return { name: part.name ?? '', content: Buffer.concat(pieces) };
    },
  });
}

/** The file arrives as it was sent. */
function upload(): FuzzTarget {
  return property('multipart', 200, {
    inputs: fc.tuple(file, pieceSizes),
    check: async ([sent, sizes]) => {
      const got = await receive(bodyOf(sent), sizes);
      return got.name === sent.name && got.content.equals(sent.content)
        ? undefined
        : `${got.name} with ${got.content.length} bytes`;
    },
  });
}

function uploadJunk(): FuzzTarget {
  return property('multipart junk', 200, {
    inputs: fc.tuple(mutated(file.map(bodyOf)), pieceSizes),
    check: async ([body, sizes]) => {
      try {
        const got = await receive(body, sizes);
        return body.includes(got.content) ? undefined : 'a content that nobody sent';
      } catch (error) {
        return error instanceof DepotError && error.status < 500 ? undefined : String(error);
      }
    },
  });
}
