import { expect, onTestFinished, test } from 'vitest';

import { createNotes } from '../../src/device/notes.ts';
import { createConfirmOrBack, type ConfirmOrBack } from '../../src/jobs/confirm-or-back.ts';
import type { Job } from '../../src/jobs/job.ts';
import { unixNow } from '../../src/jobs/job.ts';
import { createLog } from '../../src/log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What outlives a daemon, and the clock of the boot. */
interface Device {
  folder: string;
  jobs: Job[];
  bootId: string;
  uptimeS: number;
  back: string[];
  /** How often something was to go back. */
  tries: number;
  fault?: Error;
}

async function newDevice(): Promise<Device> {
  const folder = await temporaryFolder();
  return { folder, jobs: [], bootId: 'one', uptimeS: 1000, back: [], tries: 0 };
}

interface Daemon extends ConfirmOrBack {
  ends: (job: Partial<Job>) => void;
}

async function startDaemon(device: Device): Promise<Daemon> {
  let listen: (job: Job) => void = () => undefined;
  const made = createConfirmOrBack({
    notes: createNotes(device.folder),
    note: 'to-confirm',
    queue: {
      all: () => device.jobs,
      get: (id) => device.jobs.find((job) => job.id === id),
      onChange: (listener) => ((listen = listener), () => undefined),
    },
    processes: { bootId: () => Promise.resolve(device.bootId) },
    log: createLog('silent'),
    secondsOf: ({ params }) =>
      params.confirm_s === undefined ? undefined : Number(params.confirm_s),
    back: ({ id }) => {
      device.tries += 1;
      if (device.fault !== undefined) return Promise.reject(device.fault);
      device.back.push(id);
      return Promise.resolve();
    },
    uptimeS: () => device.uptimeS,
  });
  onTestFinished(made.close);
  await made.start();
  return {
    ...made,
    ends: (job) => {
      const ended = { id: 'task', state: 'done', params: { confirm_s: '120' }, ...job } as Job;
      device.jobs.push(ended);
      listen(ended);
    },
  };
}

/** The next daemon reads what the last one wrote. */
const written = ({ folder }: Device): Promise<void> =>
  expect.poll(() => createNotes(folder).read('to-confirm')).toHaveProperty('task');

test('what nobody confirms goes back when its time is over, and not before', async () => {
  const device = await newDevice();
  const daemon = await startDaemon(device);
  daemon.ends({});
  expect(daemon.confirmBy('task')).toBe(unixNow() + 120);
  device.uptimeS += 119;
  await daemon.check();
  expect(device.back).toEqual([]);
  device.uptimeS += 1;
  await daemon.check();
  await daemon.check();
  expect(device.back).toEqual(['task']);
  expect(daemon.confirmBy('task')).toBeUndefined();
  expect(await daemon.confirm('task')).toBe('back');
});

test('what is confirmed stays, also for the next daemon', async () => {
  const device = await newDevice();
  const daemon = await startDaemon(device);
  daemon.ends({});
  expect(await daemon.confirm('task')).toBe('confirmed');
  expect(await daemon.confirm('task')).toBe('confirmed');
  daemon.close();
  device.uptimeS += 1000;
  const next = await startDaemon(device);
  await next.check();
  expect(device.back).toEqual([]);
});

test('only what has ended and has to be confirmed waits', async () => {
  const device = await newDevice();
  const daemon = await startDaemon(device);
  daemon.ends({ id: 'under-way', state: 'running' });
  daemon.ends({ id: 'plain', params: {} });
  expect([daemon.confirmBy('under-way'), daemon.confirmBy('plain')]).toEqual([
    undefined,
    undefined,
  ]);
  expect(await daemon.confirm('plain')).toBe('unknown');
  expect(daemon.isWaiting()).toBe(false);
});

test('a daemon that was killed goes on with the time that was left', async () => {
  const device = await newDevice();
  const daemon = await startDaemon(device);
  daemon.ends({});
  await written(device);
  daemon.close();
  device.uptimeS += 60;
  const next = await startDaemon(device);
  expect(next.confirmBy('task')).toBe(unixNow() + 60);
  device.uptimeS += 60;
  await next.check();
  expect(device.back).toEqual(['task']);
});

test('a daemon that was killed before it noted the end of the job finds it', async () => {
  const device = await newDevice();
  device.jobs.push({ id: 'task', state: 'done', params: { confirm_s: '120' } } as unknown as Job);
  const daemon = await startDaemon(device);
  expect(daemon.confirmBy('task')).toBe(unixNow() + 120);
});

test('after a boot the time begins anew, and after the next one it is over', async () => {
  const device = await newDevice();
  const daemon = await startDaemon(device);
  daemon.ends({});
  await written(device);
  daemon.close();
  Object.assign(device, { bootId: 'two', uptimeS: 20 });
  const second = await startDaemon(device);
  device.uptimeS += 119;
  await second.check();
  expect(device.back).toEqual([]);
  second.close();
  Object.assign(device, { bootId: 'three', uptimeS: 20 });
  const third = await startDaemon(device);
  await third.check();
  expect(device.back).toEqual(['task']);
});

test('what cannot go back yet is tried again', async () => {
  const device = await newDevice();
  const daemon = await startDaemon(device);
  daemon.ends({});
  device.uptimeS += 120;
  device.fault = new Error('no room');
  await daemon.check();
  expect(daemon.isWaiting()).toBe(true);
  expect(daemon.confirmBy('task')).toBeUndefined();
  expect(await daemon.confirm('task')).toBe('back');
  delete device.fault;
  await daemon.check();
  expect(device.back).toEqual(['task']);
});

test('what cannot go back for days is tried again ever less often, and once an hour at least', async () => {
  const device = await newDevice();
  device.fault = new Error('no room');
  const daemon = await startDaemon(device);
  daemon.ends({});
  device.uptimeS += 120;
  const tried: number[] = [];
  for (let second = 0; second < 3 * 3600; second += 60) {
    await daemon.check();
    tried.push(device.tries);
    device.uptimeS += 60;
  }
  expect(tried.slice(0, 3)).toEqual([1, 2, 3]);
  expect(tried.at(-1)).toBeLessThan(16);

  delete device.fault;
  device.uptimeS += 3600;
  await daemon.check();
  expect(device.back).toEqual(['task']);
});
