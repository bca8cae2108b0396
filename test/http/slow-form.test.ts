import { connect } from 'node:net';
import { expect, test } from 'vitest';

import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';

/** Sends this and nothing more; gives what comes back until the daemon closes the connection, and when that was. */
function exchange(port: number, text: string): Promise<{ answer: string; tookMs: number }> {
  const from = performance.now();
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(text));
    socket.setEncoding('utf8').on('data', (piece: string) => (answer += piece));
    socket.on('close', () => resolve({ answer, tookMs: performance.now() - from }));
    socket.on('error', reject);
  });
}

test('a stranger who never finishes a form loses the connection', async () => {
  const device = await createDevice();
  const daemon = await startDaemon(device, { set: ['main.auth=password'] });
  const head = `POST ${daemon.base}/admin/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\n`;

  const { answer, tookMs } = await exchange(Number(new URL(daemon.url).port), `${head}password=`);
  await daemon.close();
  await device.close();

  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toContain('{"code":408,"msg":"cannot read a form that takes more than 10 s"}');
  expect(tookMs).toBeLessThan(20_000);
});
