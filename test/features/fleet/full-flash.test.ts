import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { createFleetDevice, ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import { createStandIn, ofDownloads, type StandIn } from './stand-in.ts';

/** A flash that has no room for the record of an action. */
let server: StandIn;
let on: FleetDevice;
const folder = (): string => join(on.device.root, 'etc/depotd/fleet/actions');
const filler = (): string => join(folder(), 'filler');
const fill = (): Promise<void> =>
  writeFile(filler(), Buffer.alloc(2 * 1024 ** 2)).catch(() => undefined);
const rollOut = async (name: string): Promise<string> =>
  server.assign(await server.publish([moduleOf(ipk(name))]), on.id);

beforeEach(async () => {
  server = await createStandIn();
  on = await createFleetDevice(server);
  await on.poll();
});
afterEach(async () => {
  await runCommand(['umount', '-l', folder()]);
  await on.close();
  await server.close();
});

describe.skipIf(process.getuid?.() !== 0)('with a flash that is full', () => {
  test.each(['before it is offered', 'while its files come'])(
    'an action fails by no_space if that is so %s, and nothing of it is done',
    async (when) => {
      const options = 'mode=700,size=1m';
      await runCommand(['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder()]);
      if (when === 'before it is offered') await fill();
      server.intercept = ofDownloads((request, response) => {
        void fill().then(() => server.pass(request, response));
      });
      const before = server.requests.length;

      const { status, messages } = await on.over(await rollOut('one'));

      expect(status).toBe('error');
      expect(messages).toContain('error_code no_space');
      expect(messages.at(-1)).toContain('cannot put the action on record');
      expect(await on.names()).toEqual(['libc']);
      expect(server.requests.length - before).toBeLessThan(20);

      server.intercept = undefined;
      await rm(filler());
      expect(await on.over(await rollOut('two'))).toMatchObject({ status: 'finished' });
      expect([...(await on.device.database()).keys()].sort()).toEqual(['libc', 'two']);
    },
  );
});
