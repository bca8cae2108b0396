import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startCommand } from '../../device/command.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';

let device: Device;
let daemon: TestDaemon;
let journalFile: string;

beforeAll(async () => {
  device = await createDevice();
  daemon = await startDaemon(device);
  journalFile = join(device.root, 'etc/depotd/jobs.jsonl');
});

afterAll(async () => {
  await daemon.close();
  await device.close();
});

const RECORD = {
  kind: 'install',
  lane: 'package',
  subject: 'virt',
  params: {},
  command: 'install virt',
  state: 'queued',
  createdAt: 1,
  phase: 'steps',
  format: 2,
  done: [],
  runs: 0,
  resumes: 0,
  memory: {},
};
const append = (record: object): Promise<void> =>
  appendFile(journalFile, `${JSON.stringify(record)}\n`);
interface Health {
  status: string;
  damaged_tasks?: { task_id: string; reason: string }[];
}
const health = async (): Promise<Health> =>
  (await daemon.get('/healthz')).json() as Promise<Health>;

const DAMAGED: [string, { id: string; [key: string]: unknown }, string][] = [
  ['that lacks its fields', { id: 'a'.repeat(32), state: 'queued' }, 'is damaged'],
  ['of an unknown lane', { ...RECORD, id: 'b'.repeat(32), lane: 'fast' }, 'in the lane "fast"'],
  [
    'of another lane than its kind has',
    { ...RECORD, id: 'c'.repeat(32), lane: 'container' },
    'in the lane "container"',
  ],
  ['of an unknown kind', { ...RECORD, id: 'd'.repeat(32), kind: 'fly' }, 'the kind "fly"'],
];

describe('records that are damaged', () => {
  beforeAll(async () => {
    await daemon.close();
    for (const [, record] of DAMAGED) {
      await append(record);
      // So that the other is not the last line, which may be torn.
      const id = `0${record.id}`;
      await append({ ...RECORD, kind: 'update', subject: '', command: 'opkg update', id });
    }
    await daemon.restart();
  });

  test.each(DAMAGED)(
    'a record %s fails its task alone, and log, health and the list of tasks name it',
    async (_, { id }, reason) => {
      expect(await daemon.finished(id)).toMatchObject({ running: false, state: 'failed' });
      expect((await daemon.status(id)).error).toContain(reason);
      const all = await daemon.get('admin/system/tasks/status');
      expect(await all.json()).toMatchObject({ [id]: { state: 'failed', exit_code: 1 } });
      expect(daemon.log.join('\n')).toMatch(new RegExp(`"task":"${id}".*"job record set aside"`));
      const { status, damaged_tasks: damaged = [] } = await health();
      expect(status).toBe('ok');
      expect(damaged.find(({ task_id: task }) => task === id)?.reason).toContain(reason);
      // Everything else goes on.
      expect(await daemon.finished(`0${id}`)).toMatchObject({ state: 'done' });

      await daemon.post('admin/system/tasks/stop', { task_id: id });
    },
  );
});

test('what runs of a task whose record is damaged is ended before another begins', async () => {
  const id = 'e'.repeat(32);
  const left = startCommand(['sh', '-c', 'trap "" INT TERM; sleep 60; exit'], {
    env: { ...process.env, DEPOTD_JOB: id },
  });
  await daemon.close();
  await append({ id, state: 'running' });
  await append({ ...RECORD, id: `0${id}` });

  await daemon.restart();
  const next = daemon.finished(`0${id}`, 60_000);

  await Promise.race([left.exit, next]);
  expect(await daemon.status(`0${id}`)).not.toMatchObject({ running: false });
  expect(await left.exit).toBeGreaterThan(128);
  expect(await next).toMatchObject({ running: false });
}, 90_000);

test('records stay readable line by line', async () => {
  await daemon.close();
  await daemon.restart();

  const lines = (await readFile(journalFile, 'utf8')).split('\n').filter(Boolean);

  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('id');
});
