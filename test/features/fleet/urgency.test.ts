import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import { openFleetDevice, shareFleetDevice } from './shared-device.ts';
import type { StandIn } from './stand-in.ts';

let server: StandIn;
let on: FleetDevice;

let made = 0;
/** Another one each time: what has come once is not fetched again. */
const publish = (name = 'one', postinst?: string): Promise<string> => {
  const files = { [`/usr/share/${name}`]: String((made += 1)) };
  return server.publish([
    moduleOf(ipk(name, { files, ...(postinst && { scripts: { postinst } }) })),
  ]);
};
const isThere = async (name = 'one'): Promise<boolean> => (await on.device.database()).has(name);

shareFleetDevice({ set: ['fleet.confirm=ask'] }, (...shared) => ([server, on] = shared));
beforeEach(() => rm(join(on.device.root, 'go'), { force: true }));

/** A device whose daemon does not ask its owner, and has heard nothing yet. */
async function begin(): Promise<void> {
  [server, on] = await openFleetDevice();
}

describe('an action that is not to be installed yet', () => {
  test('of download only is over when its files are here, and nothing is installed', async () => {
    const action = await server.assign(await publish(), on.id, { type: 'downloadonly' });

    expect(await on.over(action)).toMatchObject({ status: 'downloaded' });
    expect(await isThere()).toBe(false);
    expect((await on.status()).action).toMatchObject({ result: 'downloaded', is_reported: true });
  });

  test('waits with its files for its maintenance window, and is installed when that opens', async () => {
    const action = await server.assign(await publish(), on.id, { window: 'closed' });
    await on.until(action, (_, { action: shown }) => shown?.state === 'waiting');
    await on.poll();
    expect(await isThere()).toBe(false);
    expect((await server.action(on.id, action)).status).toBe('running');

    server.change(action, { window: 'open' });

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect(await isThere()).toBe(true);
    const downloads = server.requests.filter((line) => line.includes('/artifacts/'));
    expect(downloads).toHaveLength(1);
  });
});

describe('the owner', () => {
  test.each([
    ['agrees to', { confirm: '1', status: 'finished', isInstalled: true }],
    ['declines', { confirm: '0', status: 'error', isInstalled: false }],
  ])('%s a soft action with "ask"', async (_, { confirm, status, isInstalled }) => {
    const action = await server.assign(await publish(), on.id, { type: 'soft' });
    await on.until(action, (__, { action: shown }) => shown?.state === 'asking');
    expect(await isThere()).toBe(false);

    await on.daemon.post('admin/fleet/confirm', { id: action, confirm });

    expect(await on.over(action)).toMatchObject({ status });
    expect(await isThere()).toBe(isInstalled);
  });

  test('is asked where the server wants a consent, and what he declines is not asked for again', async () => {
    const action = await server.assign(await publish(), on.id, { isConfirmed: false });
    await on.until(action, (_, { action: shown }) => shown?.state === 'asking');
    await on.daemon.post('admin/fleet/confirm', { id: action, confirm: '0' });
    await on.poll();
    const before = server.requests.length;

    await on.poll();

    expect(server.requests.slice(before)).toHaveLength(1);
    expect((await server.action(on.id, action)).status).toBe('waiting');
  });

  test('can switch the fleet off, over a restart too, and on again', async () => {
    await begin();
    await on.daemon.post('admin/fleet/switch', { enable: '0' });
    // It hears that it is switched off, and nothing from then on.
    await expect.poll(() => server.requests).toEqual([expect.stringMatching(/^PUT .*configData$/)]);
    await on.daemon.restart();
    const action = await server.assign(await publish(), on.id);

    expect((await on.daemon.post('admin/fleet/poll')).status).toBe(503);
    expect(server.requests).toHaveLength(1);
    await on.daemon.post('admin/fleet/switch', { enable: '1' });

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
  });

  test('who switches it off and on many times at once, and while it polls, has the last word', async () => {
    await begin();
    const flips = Array.from({ length: 20 }, (_, index) => String((index + 1) % 2));

    const answers = await Promise.all(
      flips.flatMap((enable) => [
        on.daemon.post('admin/fleet/switch', { enable }),
        ...(enable === '1' ? [on.daemon.post('admin/fleet/poll')] : []),
      ]),
    );
    expect(
      answers.map(({ status }) => status).filter((status) => status >= 500 && status !== 503),
    ).toEqual([]);
    await on.daemon.post('admin/fleet/switch', { enable: '0' });

    await on.daemon.restart();
    expect(await on.status()).toMatchObject({ is_on: false });
  });
});

describe('an action that the server cancels', () => {
  test('before the device has heard of it is canceled', async () => {
    const action = await server.assign(await publish(), on.id);
    await server.cancel(on.id, action);

    expect(await on.over(action)).toMatchObject({ status: 'canceled' });
    expect(await isThere()).toBe(false);
  });

  test('while it waits for its window is canceled', async () => {
    const action = await server.assign(await publish(), on.id, { window: 'closed' });
    await on.until(action, (_, { action: shown }) => shown?.state === 'waiting');
    await server.cancel(on.id, action);

    expect(await on.over(action)).toMatchObject({ status: 'canceled' });
    expect(await isThere()).toBe(false);
  });

  test('while its job waits for another one is canceled', async () => {
    const go = await holdLane();
    const action = await server.assign(await publish(), on.id);
    await on.until(action, (_, { action: shown }) => shown?.task_id !== undefined);
    await server.cancel(on.id, action);

    expect(await on.over(action)).toMatchObject({ status: 'canceled' });
    await go();
    expect(await isThere()).toBe(false);
  });

  test('while it is being installed is rejected, and its true end is reported', async () => {
    const marker = 'begun';
    const set = await publish(
      'slow',
      `#!/bin/sh\n: > "$IPKG_INSTROOT/${marker}"\nwhile [ ! -e "$IPKG_INSTROOT/go" ]; do sleep 0.1; done\n`,
    );
    const action = await server.assign(set, on.id);
    await on.until(action, () => true);
    await expect
      .poll(async () => (await on.poll(), on.device.read(marker)), { timeout: 30_000 })
      .toBe('');
    await server.cancel(on.id, action);
    await on.poll();
    const { messages, status } = await server.action(on.id, action);
    expect(status).toBe('running');
    expect(messages).toContain('it is being installed: its end will be reported');
    await writeFile(join(on.device.root, 'go'), '');

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect(await isThere('slow')).toBe(true);
  });

  test('for another one gives way to that', async () => {
    const first = await server.assign(await publish('one'), on.id, { window: 'closed' });
    await on.until(first, (_, { action: shown }) => shown?.state === 'waiting');
    const second = await server.assign(await publish('two'), on.id);

    expect(await on.over(second)).toMatchObject({ status: 'finished' });
    expect((await server.action(on.id, first)).status).toBe('canceled');
    expect(await isThere('one')).toBe(false);
  });
});

/** Has another package job run until the returned function is called. */
async function holdLane(): Promise<() => Promise<void>> {
  const form = new FormData();
  const script = `#!/bin/sh\nwhile [ ! -e ${on.device.root}/go ]; do sleep 0.1; done\n`;
  form.append('file', new Blob([script]), 'hold.run');
  const url = `${on.daemon.url}${on.daemon.base}/admin/store/upload`;
  const answer = await fetch(url, { method: 'POST', body: form });
  const { task_id: id = '' } = (await answer.json()) as { task_id?: string };
  return async () => {
    await writeFile(join(on.device.root, 'go'), '');
    await on.daemon.finished(id);
  };
}
