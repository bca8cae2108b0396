import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createRandom } from '../../support/random.ts';
import { createFleetDevice, ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

const SEED = Number(process.env.SEED ?? 31);
const ACTIONS = 8;

let server: StandIn;
let line: Server;
let on: FleetDevice;
const count = { whole: 0, lost: 0 };

beforeAll(async () => {
  server = await createStandIn();
  line = loseHalf(Number(new URL(server.url).port));
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve));
  const { port } = line.address() as AddressInfo;
  on = await createFleetDevice({ ...server, url: `http://127.0.0.1:${port}` });
});
afterAll(async () => {
  await on.close();
  line.close();
  await server.close();
});

/**
 * A relay that loses half of all lines: before the server has anything, when it has it and answers,
 * or within a later answer.
 */
function loseHalf(port: number): Server {
  const random = createRandom(SEED);
  return createServer((near: Socket) => {
    const far = connect(port, '127.0.0.1');
    const lose = (): void => {
      count.lost += 1;
      near.destroy();
      far.destroy();
    };
    for (const each of [near, far]) each.on('error', () => undefined);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    const isLost = random.below(2) === 1;
    const answers = random.below(4);
    if (!isLost) count.whole += 1;
    else if (answers === 0) near.once('data', lose);
    else {
      let seen = 0;
      far.on('data', () => {
        if ((seen += 1) === answers) lose();
      });
    }
    near.pipe(far).pipe(near);
  });
}

test(`a device whose line is lost half of the time does each of ${ACTIONS} sets once, and tells each end once`, async () => {
  const names = Array.from({ length: ACTIONS }, (_, index) => `lossy-${index}`);
  for (const name of names) {
    const postinst = `#!/bin/sh\necho ${name} >> "$IPKG_INSTROOT/count"\n`;
    const files = { [`/usr/share/${name}`]: name.repeat(20_000) };
    const set = await server.publish([moduleOf(ipk(name, { files, scripts: { postinst } }))]);
    const action = await server.assign(set, on.id);

    const { status, messages } = await on.over(action);
    expect(status, `seed ${SEED}: ${messages.join('\n')}`).toBe('finished');
  }

  expect(((await on.device.read('count')) ?? '').trim().split('\n')).toEqual(names);
  expect(count.lost).toBeGreaterThan(ACTIONS);
  expect(count.lost).toBeGreaterThan(count.whole / 4);
});
