import { request } from 'node:http';
import * as v from 'valibot';
import { systemCode } from '../../errors.ts';
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
const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR'];

/** Over its socket (Docker Engine API; without a version in the path: its own). Never throws. */
export function askEngine(
  socketPath: string,
  { method, path, timeoutMs }: EngineQuestion,
): Promise<EngineAnswer> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const fail = (error: unknown): void =>
      resolve(NOBODY.includes(systemCode(error) ?? '') ? 'absent' : 'silent');
    const asked = request(
      {
        socketPath,
        method,
        path,
        signal,
        agent: false,
        headers: { host: 'engine', connection: 'close' },
      },
      (response) => {
        const pieces: Buffer[] = [];
        let bytes = 0;
        response.on('data', (piece: Buffer) => {
          bytes += piece.length;
          if (bytes <= MOST_BYTES) pieces.push(piece);
          else response.destroy(new Error('the answer is too long'));
        });
        response.on('error', fail);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: parseJson(Buffer.concat(pieces).toString('utf8')),
          }),
        );
      },
    );
    asked.on('error', fail);
    asked.end();
  });
}

const refusal = v.object({ message: v.string() });

/** Why the engine did not do what it was asked for, in its own words. */
export function refusalIn({ status, body }: { status: number; body: unknown }): string {
  return v.is(refusal, body) ? body.message : `the engine answers ${status}`;
}
