import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import {
  createRegularUpdate,
  type RegularUpdate,
} from '../../../src/features/packages/regular-update.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { openStore } from './open-store.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

interface Device {
  now: number;
  /** What the clock was set by since the start. */
  setBy: number;
  /** When the lists were fetched, milliseconds since 1970; undefined: they are gone. */
  updatedAt: number | undefined;
  hasNetwork: boolean;
  everyHours: number;
  jobs: Pick<Job, 'kind' | 'state'>[];
  /** What the next draw gives. */
  share: number;
  begun: number;
}

function open(state: Partial<Device>): { device: Device; regular: RegularUpdate } {
  const device: Device = {
    ...{ now: 100 * HOUR, setBy: 0, updatedAt: 99 * HOUR, hasNetwork: true, everyHours: 24 },
    ...{ jobs: [], share: 0.5, begun: 0 },
    ...state,
  };
  const regular = createRegularUpdate({
    feeds: {
      read: () => Promise.resolve({ feeds: [{ isEnabled: true }], faults: [] } as never),
      stateOf: () =>
        Promise.resolve({
          ...(device.updatedAt !== undefined && { updatedAt: device.updatedAt / 1000 }),
        } as never),
    },
    queue: { all: () => device.jobs } as never,
    submit: () => {
      device.begun += 1;
      return Promise.resolve({} as never);
    },
    everyHours: () => device.everyHours,
    hasNetwork: () => Promise.resolve(device.hasNetwork),
    now: () => device.now + device.setBy,
    elapsed: () => device.now,
    draw: () => device.share,
  });
  return { device, regular };
}

/** The minute in which it begins, from now on; undefined: not within two days. */
async function begins({ device, regular }: ReturnType<typeof open>): Promise<number | undefined> {
  const [from, before] = [device.now, device.begun];
  for (; device.now < from + 48 * HOUR; device.now += MINUTE) {
    await regular.check();
    if (device.begun > before) return (device.now - from) / MINUTE;
  }
  return undefined;
}

test('lists are fetched a day after the last time, at a drawn minute of the hour behind it', async () => {
  expect(await begins(open({ share: 0 }))).toBe(23 * 60);
  expect(await begins(open({ share: 0.5 }))).toBe(23 * 60 + 30);
});

test('never, if nobody wants it', async () => {
  expect(await begins(open({ everyHours: 0 }))).toBeUndefined();
  expect(await begins(open({ everyHours: 0, updatedAt: undefined }))).toBeUndefined();
});

test('lists that a boot lost are fetched within ten minutes, when there is a network', async () => {
  const lost = open({ updatedAt: undefined, share: 0.5 });
  expect(await begins(lost)).toBe(5);

  const offline = open({ updatedAt: undefined, hasNetwork: false });
  expect(await begins(offline)).toBeUndefined();
  offline.device.hasNetwork = true;
  expect(await begins(offline)).toBe(0);
});

test('a clock that is set by years after a boot makes nobody fetch before the drawn minute', async () => {
  const YEARS = 50 * 365 * 24 * HOUR;
  const lost = open({ updatedAt: undefined, share: 0.5 });
  lost.device.setBy = YEARS;
  expect(await begins(lost)).toBe(5);

  const old = open({ share: 0.5 });
  old.device.setBy = YEARS;
  expect(await begins(old)).toBe(5);
});

test('a clock that was ahead keeps nothing from being fetched when it is right again', async () => {
  const ahead = open({ updatedAt: undefined, share: 0, setBy: 365 * 24 * HOUR });
  expect(await begins(ahead)).toBe(0);
  ahead.device.updatedAt = ahead.device.now + ahead.device.setBy;

  ahead.device.setBy = 0;

  expect(await begins(ahead)).toBe(60);
});

test('after a fetch that failed an hour passes', async () => {
  const failing = open({ updatedAt: undefined, share: 0 });
  expect(await begins(failing)).toBe(0);
  expect(await begins(failing)).toBe(60);
});

test('nothing is begun while lists are fetched anyway', async () => {
  const busy = open({ updatedAt: 0, jobs: [{ kind: 'update', state: 'running' }] });
  expect(await begins(busy)).toBeUndefined();
  busy.device.jobs = [{ kind: 'update', state: 'done' }];
  expect(await begins(busy)).toBe(0);
});

test('the page has it done by itself, which the configuration file keeps', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const config = join(folder, 'depotd');
  await writeFile(config, "# the owner's own words\nconfig depotd 'main'\n");
  const store = await openStore({}, { config });
  onTestFinished(store.close);
  const everyHours = async (): Promise<number | undefined> => {
    const answer = await store.daemon.get('admin/store/available');
    return ((await answer.json()) as { lists: { update_every_h?: number } }).lists.update_every_h;
  };
  expect(await everyHours()).toBeUndefined();

  expect(await store.run('update', { every_h: '24' })).toMatchObject({ state: 'done' });

  expect(await everyHours()).toBe(24);
  expect(await readFile(config, 'utf8')).toBe(
    "# the owner's own words\nconfig depotd 'main'\n\nconfig depotd 'packages'\n\toption update_every_h '24'\n",
  );
  await store.run('update', { every_h: '0' });
  expect(await everyHours()).toBeUndefined();
  expect((await store.daemon.post('admin/store/update', { every_h: '9999' })).status).toBe(400);
});
