import { createServer } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { askEngine } from '../../../src/device/engine/engine-api.ts';

test('an engine that wants to talk in another way counts as silent once its time is over', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-engine-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n');
  });
  onTestFinished(() => void server.close());
  await once(server.listen(join(folder, 'socket')), 'listening');

  const question = { method: 'GET', path: '/version', timeoutMs: 200 } as const;
  expect(await askEngine(join(folder, 'socket'), question)).toBe('silent');
});
