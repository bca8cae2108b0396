import { connect } from 'node:net';

import * as fc from 'fast-check';

import { property, type FuzzTarget } from '../target.ts';
import { almostMessage, COOKIE, forgeMessage, TOKEN } from './forge-messages.ts';
import { ROOT, startWatchedForge, type Received } from './forge-upstream.ts';

/**
 * What reaches the upstream lies below its API root on every level of escaping and carries nothing
 * of the panel's; and the fast path makes of the same bytes what Node's own parser makes of them.
 */
export async function forgeTargets(): Promise<FuzzTarget[]> {
  return [
    await targets('documented'),
    await targets('all'),
    await twoParsers('forge by two parsers', forgeMessage),
    await twoParsers('almost HTTP by two parsers', almostMessage),
  ];
}

async function targets(expose: 'documented' | 'all'): Promise<FuzzTarget> {
  const forge = await startWatchedForge({ expose });
  const target = property(`forge targets (${expose})`, 200, {
    inputs: fc.array(forgeMessage, { minLength: 1, maxLength: 3 }),
    check: async (messages) => {
      await exchange(forge.port, messages);
      return forge.drainReceived().flatMap(problemsOf)[0];
    },
  });
  return { ...target, close: forge.close };
}

async function twoParsers(name: string, messages: fc.Arbitrary<string>): Promise<FuzzTarget> {
  const [fast, long] = [await startWatchedForge(), await startWatchedForge({ isLong: true })];
  const target = property(name, 150, {
    inputs: fc.array(messages, { minLength: 1, maxLength: 2 }),
    check: async (sent) => {
      const [ours, nodes] = await Promise.all([
        exchange(fast.port, sent),
        exchange(long.port, sent),
      ]);
      const [here, there] = [fast.drainReceived(), long.drainReceived()].map(comparable);
      if (here !== there) {
        return `the upstream gets ${here ?? ''}, and by Node's parser ${there ?? ''}`;
      }
      return ours === nodes ? undefined : `the answers are ${ours}, and by Node's parser ${nodes}`;
    },
  });
  return {
    ...target,
    close: () => Promise.all([fast.close(), long.close()]).then(() => undefined),
  };
}

function comparable(received: readonly Received[]): string {
  return JSON.stringify(
    received.map(({ method, url, rawHeaders, body }) => [
      method,
      url,
      // The port of the device and of the upstream.
      rawHeaders.map((line) => line.replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')),
      body,
    ]),
  );
}

/** What is wrong with a request that reached the upstream. */
function problemsOf({ method, url, rawHeaders }: Received): string[] {
  if (method === 'no request') return [`the upstream got what is no request: ${url}`];
  const [path = ''] = url.split('?', 1);
  const found: string[] = [];
  let level = path;
  for (let round = 0; round < 10; round += 1) {
    const { pathname } = new URL(`http://h${level.replace(/^\/+/, '/').replaceAll('\\', '/')}`);
    const isOutside =
      !`${pathname}/`.startsWith(`${ROOT}/`) ||
      /(?:^|[/\\])\.\.(?:;[^/\\]*)?(?:[/\\]|$)/.test(level) ||
      level.includes('\0');
    if (isOutside) found.push(`${method} ${url} leaves the API root on level ${round}`);
    const next = level.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (next === level) break;
    level = next;
  }
  const whole = [url, ...rawHeaders].join('\n');
  for (const secret of [COOKIE, TOKEN, 'FORGED']) {
    if (whole.includes(secret)) found.push(`${method} ${url} carries ${secret}: ${whole}`);
  }
  return found;
}

const SILENCE_MS = 400;

/**
 * Sends each message when the answer before it is whole, and gives the status of each answer; a
 * message that is not whole is left alone after a while.
 */
function exchange(port: number, messages: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const statuses: string[] = [];
    const waiting = [...messages];
    let text = '';
    let timer: NodeJS.Timeout | undefined;
    const next = (): void => {
      const message = waiting.shift();
      if (message === undefined) return void socket.destroy();
      text = '';
      socket.write(message, 'latin1');
    };
    const refresh = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => socket.destroy(), SILENCE_MS);
    };
    socket.on('connect', () => {
      refresh();
      next();
    });
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      refresh();
      text += piece.toString('latin1');
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      if (status === undefined || !isWhole(text)) return;
      statuses.push(status);
      if (/\r\nConnection: close/i.test(text)) return void socket.destroy();
      setImmediate(next);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(statuses.join());
    });
  });
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const length = /\r\nContent-Length: *(\d+)/i.exec(answer.slice(0, end))?.[1];
  if (length !== undefined) return answer.length - end - 4 >= Number(length);
  return /\r\nTransfer-Encoding: chunked/i.test(answer) ? answer.endsWith('0\r\n\r\n') : true;
}
