import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import * as v from 'valibot';
import { systemCode } from '../../errors.ts';
import { allBytes, bounded } from '../byte-reader.ts';
import { parseJson } from '../durable-file.ts';

/** `absent`: nobody listens there. `silent`: somebody has the socket and gave no answer in time. */
export type EngineAnswer = { status: number; body: unknown } | 'absent' | 'silent';

export interface EngineQuestion {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  timeoutMs: number;
}

/**
 * Longer than any real answer; parsed it takes several times as much. Labels come from images, too,
 * whose makers choose their length.
 */
const MOST_BYTES = 4 * 1024 ** 2;
/** Short values take ten times their text: a thousand containers have half as many. */
const MOST_VALUES = 200_000;
const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR'];

/** Over its socket (Docker Engine API; without a version in the path: its own). Never throws. */
export async function askEngine(
  socketPath: string,
  { method, path, timeoutMs }: EngineQuestion,
): Promise<EngineAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = { host: 'engine', connection: 'close' };
  const asked = request({ socketPath, method, path, signal, agent: false, headers }).end();
  // Once the answer has begun its reader is told of a break, and nobody else listens here.
  asked.on('error', () => undefined);
  try {
    const [response] = (await once(asked, 'response', { signal })) as [IncomingMessage];
    const tooLong = () => new Error('the answer is too long');
    const text = await allBytes(bounded<Buffer>(response, MOST_BYTES, tooLong));
    if (text.length > MOST_VALUES && countValues(text) > MOST_VALUES) return 'silent';
    const body = parseJson(text.toString('utf8'));
    return { status: response.statusCode ?? 0, body };
  } catch (error) {
    return NOBODY.includes(systemCode(error) ?? '') ? 'absent' : 'silent';
  }
}

/** By what stands before each value but the first: a comma, or the beginning of what it is in. */
function countValues(json: Buffer): number {
  return json.reduce((count, byte) => (VALUE_MARKS.has(byte) ? count + 1 : count), 0);
}

const VALUE_MARKS = new Set(Buffer.from(',[{'));

const refusal = v.object({ message: v.string() });

/** Why the engine did not do what it was asked for, in its own words. */
export function refusalIn({ status, body }: { status: number; body: unknown }): string {
  return v.is(refusal, body) ? body.message : `the engine answers ${status}`;
}
