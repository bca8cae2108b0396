import { mkdtemp, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDevice, type DeviceSettings } from './device.ts';
import { startUpstream, type Asked } from './upstream.ts';

const BLOCKS = [
  'X-A: 1\r\n',
  'X-A: 1\r\n',
  'X-A: 2\r\n',
  'X-A: 2\r\nCookie: sysauth=secret; b=1\r\n',
  'X-A: 1\r\n',
  'X-A: 1\r\nConnection: close\r\n',
];

/**
 * Sends GETs with these header blocks on one connection, each after the answer before, and returns
 * what the forge was asked.
 */
async function askOnOne(
  settings: DeviceSettings,
  blocks: string[],
): Promise<{ asked: Asked[]; shortcuts: number }> {
  const upstream = await startUpstream((response) => response.end('ok'));
  const device = await startDevice({ upstream: upstream.url, ...settings });
  const socket = connect(device.port, '127.0.0.1');
  for (const [index, block] of blocks.entries()) {
    socket.write(`GET /api/v1/repos/o/r/raw/${index} HTTP/1.1\r\nHost: nas\r\n${block}\r\n`);
    await once(socket, 'data');
  }
  socket.destroy();
  await device.close();
  await upstream.close();
  return { asked: upstream.asked, shortcuts: device.shortcuts.length };
}

test('requests of one connection reach the forge with their own headers, whether they repeat those before or not', async () => {
  const short = await askOnOne({}, BLOCKS);
  const long = await askOnOne({ isLong: true }, BLOCKS);

  const requests = ({ asked }: typeof short): unknown =>
    asked.map(({ target, lines }) => [
      target,
      lines.filter((_, index) => lines[index - (index % 2)] !== 'Host'),
    ]);
  expect(requests(short)).toEqual(requests(long));
  expect([short.shortcuts, long.shortcuts]).toEqual([BLOCKS.length, 0]);
});

test("a request that repeats the headers before does not get the device's token once the session has ended", async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'depotd-token-')), 'token');
  await writeFile(file, 'lent');
  let asked = 0;
  const session: DeviceSettings['session'] = () =>
    Promise.resolve((asked += 1) === 1 ? { token: 'x', mayWrite: true } : undefined);

  const { asked: calls } = await askOnOne({ token_file: file, session }, [
    'X-A: 1\r\n',
    'X-A: 1\r\n',
    'X-A: 1\r\n',
  ]);

  expect(calls.map(({ headers }) => headers.authorization)).toEqual([
    'token lent',
    undefined,
    undefined,
  ]);
});
