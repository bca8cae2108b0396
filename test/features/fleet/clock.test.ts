import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { createDevice } from '../../device/device.ts';
import { ipk, joinFleet, moduleOf, type FleetDevice } from './fleet-device.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

/** A router without a battery: its clock begins in 1970, and jumps when it learns the time. */
let server: StandIn;
let on: FleetDevice;
const YEARS_S = 1_700_000_000;

const clockFile = (): string => join(on.device.root, 'tmp/clock-is-right');
const learnTime = (): Promise<void> => writeFile(clockFile(), '');
const forgetTime = (): Promise<void> => rm(clockFile());

beforeAll(async () => {
  server = await createStandIn();
  const device = await createDevice();
  await device.opkg('update');
  const file = JSON.stringify(join(device.root, 'tmp/clock-is-right'));
  const shifted =
    `import{existsSync as is}from'node:fs';const now=Date.now;` +
    `Date.now=()=>now()-(is(${file})?0:${YEARS_S * 1000})`;
  on = await joinFleet(server, device, {
    nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(shifted)}`],
  });
});
afterAll(async () => {
  await on.close();
  await server.close();
});
beforeEach(async () => {
  server.intercept = undefined;
  for (const name of ['tmp/clock-is-right', 'count', 'go']) {
    await rm(join(on.device.root, name), { force: true });
  }
});

const counted = (name: string, more = ''): ReturnType<typeof ipk> =>
  ipk(name, {
    scripts: { postinst: `#!/bin/sh\necho ${name} >> "$IPKG_INSTROOT/count"\n${more}\n` },
  });
const rollOut = async (...packages: ReturnType<typeof ipk>[]): Promise<string> =>
  server.assign(await server.publish([moduleOf(...packages)]), on.id);

test('polls and an action work at 1970, and the times that are shown follow the clock', async () => {
  expect(await on.over(await rollOut(counted('one')))).toMatchObject({ status: 'finished' });
  const { polled_at: early = 0, next_poll_at: next = 0 } = await on.status();
  expect(early).toBeLessThan(YEARS_S);
  expect(next - early).toBeLessThanOrEqual(331);

  await learnTime();

  const { polled_at: now = 0, next_poll_at: later = 0 } = await on.status();
  expect(Math.abs(now - Date.now() / 1000)).toBeLessThan(30);
  // Another poll may have been planned meanwhile, but none in 1970.
  expect(later - now).toBeGreaterThan(200);
  expect(later - now).toBeLessThanOrEqual(331);
});

test('a clock that jumps while an action is installed and a server that forgets it: one installation', async () => {
  const go = '$IPKG_INSTROOT/go';
  const action = await rollOut(counted('slow', `while [ ! -e "${go}" ]; do sleep 0.1; done`));
  const restore = server.snapshot();
  await expect
    .poll(async () => (await on.poll(), on.device.read('count')), { timeout: 30_000 })
    .toBe('slow\n');
  await learnTime();
  await on.poll();
  await writeFile(join(on.device.root, 'go'), '');
  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  restore();
  await forgetTime();
  await on.daemon.restart();

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect(await on.device.read('count')).toBe('slow\n');
});

test('the newest action is the last that came, whatever the clock said', async () => {
  await learnTime();
  await on.over(await rollOut(counted('one')));
  await forgetTime();
  const second = await rollOut(counted('two'));
  await on.over(second);

  await on.daemon.restart();

  expect((await on.status()).action).toMatchObject({ id: second });
});

test('polls that failed at 1970 go on when the server is back and the clock is right', async () => {
  server.intercept = (_, response) => {
    response.writeHead(503).end();
    return true;
  };
  await on.poll();
  const failed = await on.poll();
  expect(failed.last_error).toContain('503');
  expect((failed.next_poll_at ?? 0) + YEARS_S - Date.now() / 1000).toBeLessThanOrEqual(901);
  await learnTime();
  server.intercept = undefined;

  expect(await on.poll()).not.toHaveProperty('last_error');
  expect(await on.over(await rollOut(counted('one')))).toMatchObject({ status: 'finished' });
});
