import { expect, onTestFinished, test, vi } from 'vitest';
import { reasonOf } from '../../../src/errors.ts';
import { parseUpstream } from '../../../src/features/forge/upstream/address.ts';
import { createSocketOpener } from '../../../src/features/forge/upstream/open-socket.ts';
import { createPool, type Pool } from '../../../src/features/forge/upstream/pool.ts';
import { startRawUpstream } from './upstream.ts';

const CALL = { method: 'GET', head: 'GET / HTTP/1.1\r\nHost: h\r\n\r\n', body: undefined };

function answerOf(text: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

/** Resolves with the body, after `ended` was called in the very turn in which the call ended. */
function ask(pool: Pool, ended: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    pool.send(CALL, {
      head: () => undefined,
      body: (piece) => {
        text += piece.toString('latin1');
        return true;
      },
      end: () => {
        ended();
        resolve(text);
      },
      fail: ({ message }) => reject(new Error(message)),
    });
  });
}

test('what the forge sends behind a whole answer answers no other call, though the next one is already there', async () => {
  const upstream = await startRawUpstream((socket, count) =>
    socket.write(answerOf(`answer ${count}`)),
  );
  const address = parseUpstream(upstream.url);
  const timeouts = { connectMs: 5000, firstByteMs: 5000, idleMs: 5000 };
  const pool = createPool({
    timeouts,
    open: createSocketOpener(address),
    connected: () => undefined,
  });

  const second = new Promise<string>((resolve, reject) => {
    ask(pool, () => {
      for (const socket of upstream.sockets) socket.write(answerOf('forged'));
      setImmediate(() => void ask(pool, () => undefined).then(resolve, reject));
    }).catch(reject);
  });

  expect(await second).toBe('answer 2');
  pool.close();
  await upstream.close();
});

test.each([
  ['forward by years', 50 * 365 * 86_400_000, 'answer 1'],
  ['back by hours', -8 * 3_600_000, /^cannot get an answer: the forge sent nothing/],
] as const)('the time of a call goes on when the clock is set %s', async (_, byMs, outcome) => {
  const isSilent = byMs < 0;
  const upstream = await startRawUpstream(() => undefined);
  const pool = createPool({
    timeouts: { connectMs: 5000, firstByteMs: isSilent ? 1000 : 5000, idleMs: 5000 },
    open: createSocketOpener(parseUpstream(upstream.url)),
    connected: () => undefined,
  });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    pool.close();
    await upstream.close();
  });

  const answer = ask(pool, () => undefined).catch(reasonOf);
  await expect.poll(() => upstream.received.join('')).toContain('GET');
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + byMs);
  const [socket] = upstream.sockets;
  if (!isSilent) setTimeout(() => socket?.write(answerOf('answer 1')), 700);

  expect(await answer).toMatch(outcome);
});
