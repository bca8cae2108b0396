import { readFile, readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { residentMb } from '../../bench/measures.ts';
import { fasterClock } from './faster-clock.ts';
import { createFleetDevice, ipk, type FleetDevice } from './fleet-device.ts';
import { GOOD_MODULE, LIES, THIEF } from './hostile-answers.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

/** The daemon's clock runs so many times as fast, and each lie is looked at for so long of it. */
const FASTER = 120;
const SECONDS = 120;

let server: StandIn;
let thief: Server;
let on: FleetDevice;
const stolen: string[] = [];

beforeAll(async () => {
  thief = createServer((request, response) => {
    stolen.push(`${request.url ?? ''} ${request.headers.authorization ?? ''}`);
    response.end('{}');
  });
  await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
  THIEF.url = `http://127.0.0.1:${(thief.address() as AddressInfo).port}`;
  server = await createStandIn();
  on = await createFleetDevice(server, {
    set: ['install', 'upgrade', 'settings']
      .map((name) => `fleet.allow=${name}`)
      .concat('fleet.settings=app.main.url'),
    nodeFlags: fasterClock(FASTER),
  });
  await on.poll();
});
afterAll(async () => {
  await on.close();
  await server.close();
  thief.close();
});

/** Every file of the device but depotd's own records and logs, and what is in memory. */
async function filesOf(device: FleetDevice['device']): Promise<string[]> {
  const all = await readdir(device.root, { recursive: true });
  return all.filter((path) => !/^(?:etc\/depotd|tmp|var)(?:\/|$)/.test(path)).sort();
}

describe('a server that lies', () => {
  test.each(LIES)('by $name has nothing done, and is not asked on and on', async (lie) => {
    const before = await filesOf(on.device);
    const action = await on.rollOut(...(lie.modules ?? [GOOD_MODULE]));
    server.intercept = lie.intercept;
    server.rewrite = lie.rewrite;
    const logged = on.daemon.log.length;
    const asked = server.requests.length;
    await on.poll();
    await delay((SECONDS / FASTER) * 1000);
    expect(server.requests.length - asked).toBeLessThanOrEqual(SECONDS / 5 + 4);
    await expect
      .poll(
        async () => {
          const { last_error: error = '' } = await on.poll();
          const { messages } = await server.action(on.id, action);
          return [error, ...messages, ...on.daemon.log.slice(logged, logged + 20)].join('\n');
        },
        { timeout: 30_000 },
      )
      .toMatch(lie.says);
    server.intercept = undefined;
    server.rewrite = undefined;
    await server.cancel(on.id, action);
    await on.over(action);

    expect(await on.names()).toEqual(['libc']);
    expect(await filesOf(on.device)).toEqual(before);
    expect(stolen).toEqual([]);
    expect((await server.action(on.id, action)).status).not.toBe('finished');
  });

  test('for long has no daemon that grows', () => {
    expect(residentMb(on.daemon.pid)).toBeLessThan(140);
  });

  test('and is honest then is believed', async () => {
    const name = '../../etc/passwd.ipk';
    const action = await on.rollOut({ files: { [name]: ipk('honest').bytes } });

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect((await on.device.database()).has('honest')).toBe(true);
    expect(await readFile('/etc/passwd', 'utf8')).toContain('root:');
  });
});
