import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { asOfAnotherBoot, forgetEnd } from '../../support/power-cut.ts';
import { planOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';

/** Settings of a plan, and a daemon or a device that goes down while they are written. */
let on: FleetDevice;

const inDevice = (path: string): string => join(on.device.root, path);
const NAMES = ['one', 'two'] as const;
const textWith = (value: string): string => `config app 'main'\n\toption url '${value}'\n`;
const configs = async (): Promise<string[]> =>
  Promise.all(NAMES.map((name) => readFile(inDevice(`etc/config/${name}`), 'utf8')));
const OLD = NAMES.map(() => textWith('old'));
const NEW = NAMES.map(() => textWith('new'));
const PLAN = planOf({ version: 1, settings: { 'one.main.url': 'new', 'two.main.url': 'new' } });
const journal = (): string => inDevice('etc/depotd/jobs.jsonl');
const cutPower = async (): Promise<void> => {
  await on.daemon.kill('SIGKILL');
  await asOfAnotherBoot(journal());
};

shareFleetDevice(
  {
    set: [
      ...['settings', 'run'].map((name) => `fleet.allow=${name}`),
      ...NAMES.map((name) => `fleet.settings=${name}.main.url`),
    ],
  },
  (_, shared) => (on = shared),
);
beforeEach(async () => {
  for (const name of NAMES) await writeFile(inDevice(`etc/config/${name}`), textWith('old'));
});

/** Kills the daemon as soon as one of the files has changed. */
async function killAtChange(kill: () => Promise<unknown>): Promise<string> {
  const changed = new Promise<void>((resolve, reject) => {
    const watcher = watch(inDevice('etc/config'), () => {
      watcher.close();
      kill().then(() => resolve(), reject);
    });
  });
  const action = await on.rollOut(PLAN);
  await on.pollUntil(changed);
  return action;
}

test('a daemon that is killed while it writes settings writes all of them, and reports success', async () => {
  const action = await killAtChange(() => on.daemon.kill('SIGKILL'));
  await on.daemon.restart();

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect(await configs()).toEqual(NEW);
});

test('a device whose power goes while settings are written has all or none, as its report says', async () => {
  const action = await killAtChange(cutPower);
  await on.daemon.restart();

  const { status } = await on.over(action);

  expect(['finished', 'error']).toContain(status);
  expect(await configs()).toEqual(status === 'finished' ? NEW : OLD);
});

test('a device whose power goes behind the end of an action keeps the settings of its success', async () => {
  const [go, before] = [inDevice('go'), inDevice('etc/depotd/fleet/before.json')];
  const program = `#!/bin/sh\n: > '${inDevice('begun')}'\nwhile [ ! -e '${go}' ]; do sleep 0.1; done\n`;
  const action = await on.rollOut(PLAN, { files: { 'z.run': Buffer.from(program) } });
  await expect
    .poll(async () => (await on.poll(), on.device.read('begun')), { timeout: 30_000 })
    .toBe('');
  // As it is until the job has ended.
  await copyFile(before, inDevice('kept'));
  await writeFile(go, '');
  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  const { action: ended } = await on.status();
  await cutPower();
  await forgetEnd(journal(), ended?.task_id ?? '');
  await copyFile(inDevice('kept'), before);
  await rm(inDevice('tmp/depotd'), { recursive: true });
  await on.daemon.restart();
  const { state } = await on.daemon.finished(ended?.task_id ?? '');

  expect(state).toBe('done');
  expect(await configs()).toEqual(NEW);
  await on.poll();
  expect((await on.status()).action).toMatchObject({ result: 'success' });
});
