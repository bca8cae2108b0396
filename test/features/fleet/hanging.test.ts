import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';
import type { StandIn } from './stand-in.ts';

/** What never ends must not keep the device from all that comes after it. */
let server: StandIn;
let on: FleetDevice;

const hanging = (): Parameters<StandIn['publish']>[0][0] => {
  const script = `#!/bin/sh\necho begun > ${on.device.root}/begun\nsleep 3600\n`;
  return { files: { 'setup.run': Buffer.from(script) } };
};
const untilRunning = (): Promise<void> =>
  expect
    .poll(async () => (await on.poll(), on.device.read('begun')), { timeout: 30_000 })
    .toBe('begun\n');

shareFleetDevice(
  { set: ['fleet.allow=install', 'fleet.allow=run'] },
  (...shared) => ([server, on] = shared),
);
beforeEach(() => rm(join(on.device.root, 'begun'), { force: true }));

test('a program that hangs is ended by a request to cancel, and the next set is done', async () => {
  const action = await on.rollOut(moduleOf(ipk('one')), hanging());
  await untilRunning();

  await server.cancel(on.id, action);

  const { status, messages } = await on.over(action);
  expect(status).toBe('canceled');
  expect(messages.join('\n')).toContain('what setup.run changed by itself stays');
  expect(await on.names()).toEqual(['libc']);
  expect(await on.over(await on.rollOut(moduleOf(ipk('two'))))).toMatchObject({
    status: 'finished',
  });
});

test('it is ended by its time limit, also of a daemon that was killed meanwhile', async () => {
  const action = await on.rollOut(
    moduleOf(ipk('one')),
    hanging(),
    planOf({ version: 1, limit_s: 6 }),
  );
  await untilRunning();
  await on.daemon.kill('SIGKILL');
  await on.daemon.restart();

  const { status, messages } = await on.over(action);

  expect(status).toBe('error');
  expect(messages).toContain('error_code time_limit');
  expect(messages.join('\n')).toContain('it took longer than its time limit, 6 s');
  expect(await on.names()).toEqual(['libc']);
});

test('a script of a package that hangs is ended by the time limit, too', async () => {
  const stuck = ipk('stuck', { scripts: { postinst: '#!/bin/sh\nsleep 3600\n' } });
  const action = await on.rollOut(moduleOf(stuck), planOf({ version: 1, limit_s: 3 }));

  const { status, messages } = await on.over(action);

  expect(status).toBe('error');
  expect(messages).toContain('error_code time_limit');
  expect(await on.names()).toEqual(['libc']);
});

test('an action that the server has given up itself is waited for, and the next one says so', async () => {
  const first = await on.rollOut(hanging(), planOf({ version: 1, limit_s: 8 }));
  await untilRunning();
  server.forget(first);

  const second = await on.rollOut(moduleOf(ipk('two')));

  const { status, messages } = await on.over(second);
  expect(status).toBe('finished');
  expect(messages).toContain(`it waits for action ${first}, which is still being done`);
});
