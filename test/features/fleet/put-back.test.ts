import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';

import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';

/** What a failed action has upgraded and removed comes back. */
let on: FleetDevice;

const FAILS = { files: { 'z.run': Buffer.from('#!/bin/sh\nexit 7\n') } };
const versions = async (): Promise<Record<string, string | undefined>> =>
  Object.fromEntries(
    [...(await on.device.database())]
      .filter(([, { state }]) => state === 'installed')
      .map(([name, { version }]) => [name, version]),
  );
const statusFile = async (): Promise<string | undefined> => on.device.read('usr/lib/opkg/status');
const inDevice = (path: string): string => join(on.device.root, path);
/** By package, without the order of them. */
const paragraphs = async (): Promise<string[]> =>
  ((await statusFile()) ?? '').split(/\n\n+/).sort();

shareFleetDevice(
  { set: ['install', 'upgrade', 'remove', 'run'].map((name) => `fleet.allow=${name}`) },
  (_, shared) => (on = shared),
);
beforeEach(async () => {
  on.device.publish(1);
  await on.device.opkg('update');
  await rm(inDevice('etc/config/demo-app'), { force: true });
});

describe('an action that fails at its end', () => {
  test('leaves an upgraded app in its old version, with what its owner has configured', async () => {
    await on.device.opkg('install', 'app-meta-demo');
    const config = "config demo 'main'\n\toption mine 'yes'\n";
    await writeFile(inDevice('etc/config/demo-app'), config);
    const [before, records] = [await versions(), await paragraphs()];
    on.device.publish(2);

    const { status, messages } = await on.over(
      await on.rollOut(planOf({ version: 1, upgrade: ['demo', 'demo-app'] }), FAILS),
    );

    expect(status).toBe('error');
    expect(messages.join('\n')).not.toContain('could not be put back');
    expect(await versions()).toEqual(before);
    expect(await on.device.read('usr/bin/demo-app')).toContain('demo-app 1.0-1');
    expect(await on.device.read('etc/config/demo-app')).toBe(config);
    // With another hash of the configuration the next upgrade would replace it.
    expect(await paragraphs()).toEqual(records);
    expect(await readdir(inDevice('etc/depotd/fleet'))).not.toContain('kept');
  });

  test('leaves a removed app as it was, with what went with it as a dependency', async () => {
    await on.device.opkg('install', 'app-meta-notes');
    const [before, records] = [await versions(), await paragraphs()];

    await on.over(await on.rollOut(planOf({ version: 1, remove: ['notes', 'notes-app'] }), FAILS));

    expect(await versions()).toEqual(before);
    expect(await paragraphs()).toEqual(records);
    expect(await on.device.read('usr/share/notes-app/first.txt')).toContain('only in version 1');
  });

  test('puts back a version that a file has replaced, and removes what that needed', async () => {
    await on.over(await on.rollOut(moduleOf(ipk('alpha'))));
    const before = await versions();
    const newer = ipk('alpha', { version: '9.0', fields: { Depends: 'brought' } });

    const action = await on.rollOut(moduleOf(newer, ipk('brought')), FAILS);

    expect(await on.over(action)).toMatchObject({ status: 'error' });
    expect(await versions()).toEqual(before);
  });

  test('takes a version from the feed if it has no copy of it', async () => {
    await on.device.opkg('install', 'tiny-01');
    const before = await versions();
    const program = `#!/bin/sh\nopkg -o '${on.device.root}' remove tiny-01\nexit 7\n`;

    const { status } = await on.over(
      await on.rollOut({ files: { 'z.run': Buffer.from(program) } }),
    );

    expect(status).toBe('error');
    expect(await versions()).toEqual(before);
  });

  test('names in its error and in its report what cannot be put back', async () => {
    await on.over(await on.rollOut(moduleOf(ipk('alpha'))));
    const program = `#!/bin/sh\nopkg -o '${on.device.root}' remove alpha\nexit 7\n`;

    const { messages } = await on.over(
      await on.rollOut({ files: { 'z.run': Buffer.from(program) } }),
    );

    const version = ipk('alpha').fileName.split('_')[1] ?? '';
    const said = `alpha ${version} could not be put back: it is gone`;
    expect(messages.join('\n')).toContain(said);
    const { action } = await on.status();
    const task = await on.daemon.get(`admin/system/tasks/status?task_id=${action?.task_id ?? ''}`);
    expect(JSON.stringify(await task.json())).toContain(said);
  });
});

test('what a program has changed stays, and the report of an action that failed says so', async () => {
  const program = `#!/bin/sh\necho changed > '${inDevice('changed')}'\nexit 7\n`;
  const failed = await on.over(await on.rollOut({ files: { 'z.run': Buffer.from(program) } }));
  const bad = ipk('bad', { fields: { Depends: 'absent' } });
  const without = await on.over(await on.rollOut(moduleOf(bad)));

  expect(failed.messages.join('\n')).toContain('what z.run changed by itself stays');
  expect(await on.device.read('changed')).toBe('changed\n');
  expect(without.status).toBe('error');
  expect(without.messages.join('\n')).not.toContain('changed by itself');
});

test('a device whose power goes behind an upgrade has its old version afterwards', async () => {
  await on.device.opkg('install', 'app-meta-demo');
  const before = await versions();
  on.device.publish(2);
  const go = inDevice('go');
  const program = `#!/bin/sh\n: > '${inDevice('begun')}'\nwhile [ ! -e '${go}' ]; do sleep 0.1; done\nexit 1\n`;
  const action = await on.rollOut(planOf({ version: 1, upgrade: ['demo', 'demo-app'] }), {
    files: { 'z.run': Buffer.from(program) },
  });
  await expect
    .poll(async () => (await on.poll(), on.device.read('begun')), { timeout: 30_000 })
    .toBe('');
  expect((await versions())['demo-app']).toBe('1.1-1');
  await on.daemon.kill('SIGKILL');
  await asOfAnotherBoot(inDevice('etc/depotd/jobs.jsonl'));
  await writeFile(go, '');
  await rm(inDevice('tmp/depotd'), { recursive: true });
  await on.daemon.restart();

  const { status, messages } = await on.over(action);

  expect(status).toBe('error');
  expect(messages).toContain('error_code interrupted');
  expect(messages.join('\n')).toContain('what z.run changed by itself stays');
  expect(await versions()).toEqual(before);
  expect(await readFile(inDevice('usr/bin/demo-app'), 'utf8')).toContain('demo-app 1.0-1');
});
