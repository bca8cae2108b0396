import { watch } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';
import type { StandIn } from './stand-in.ts';

/** A plan that exchanges the device's token: one that works is in force at every moment. */
const NEW = 'new-token-0123456789';
let server: StandIn;
let on: FleetDevice;
/** What the server takes beside the token that the target has there. */
let isNewGood: () => boolean;
let used: string[];

shareFleetDevice(
  { set: [...['install', 'token'].map((name) => `fleet.allow=${name}`), 'fleet.reach_s=6'] },
  (...shared) => ([server, on] = shared),
);
let first: string | undefined;
beforeEach(async () => {
  [isNewGood, used] = [() => true, []];
  first ??= await readFile(file(), 'utf8');
  await writeFile(file(), first);
  const old = `TargetToken ${first.trim()}`;
  server.intercept = ({ headers }) => {
    const isNew = headers.authorization === `TargetToken ${NEW}`;
    used.push(isNew ? 'new' : 'old');
    if (isNew && isNewGood()) headers.authorization = old;
    return false;
  };
});

const file = (): string => join(on.device.root, 'fleet-token');
const rollOut = (): Promise<string> =>
  on.rollOut(planOf({ version: 1, token: NEW }), moduleOf(ipk('one')));

/** Every file below a folder that has the new token in it. */
async function leaksIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (await readFile(path, 'latin1')).includes(NEW)) found.push(path);
  }
  return found;
}

test('a token that works replaces the old one, and stands nowhere else', async () => {
  const { status, messages } = await on.over(await rollOut());
  await on.poll();

  expect([status, messages.join('\n')]).toEqual(['finished', expect.not.stringContaining(NEW)]);
  expect(await readFile(file(), 'utf8')).toBe(`TargetToken ${NEW}\n`);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect(used.at(-1)).toBe('new');
  expect(await leaksIn(on.device.root)).toEqual([file()]);
  expect(on.daemon.log.join('\n')).not.toContain(NEW);
});

test('a token that the server does not take leaves all as it was', async () => {
  isNewGood = () => false;
  const before = await readFile(file(), 'utf8');

  const { status, messages } = await on.over(await rollOut());

  expect(status).toBe('error');
  expect(messages).toContain('error_code token_refused');
  expect(messages.join('\n')).not.toContain(NEW);
  expect(await readFile(file(), 'utf8')).toBe(before);
  expect(await on.names()).toEqual(['libc']);
  expect(await leaksIn(on.device.root)).toEqual([]);
});

test('a token that the server takes a while later is waited for', async () => {
  isNewGood = () => used.filter((each) => each === 'new').length > 1;

  expect(await on.over(await rollOut())).toMatchObject({ status: 'finished' });
});

test('a token that is none is refused, and not said', async () => {
  const plan = planOf({ version: 1, token: 'short secret' });
  const { status, messages } = await on.over(await on.rollOut(plan));

  expect([status, messages.join('\n')]).toEqual(['error', expect.not.stringContaining('secret')]);
  expect(messages).toContain('error_code plan_unreadable');
});

test.each([1, 2, 3, 4])(
  'a daemon that is killed at change %i of the folder has a token that works',
  async (nth) => {
    const before = await readFile(file(), 'utf8');
    let changes = 0;
    const killed = new Promise<void>((resolve, reject) => {
      const watcher = watch(on.device.root, (_, name) => {
        if (name?.startsWith('fleet-token') !== true || (changes += 1) < nth) return;
        watcher.close();
        on.daemon.kill('SIGKILL').then(() => resolve(), reject);
      });
    });
    const action = await rollOut();
    await on.pollUntil(killed);
    expect([before, `TargetToken ${NEW}\n`]).toContain(await readFile(file(), 'utf8'));
    await on.daemon.restart();

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect(await readFile(file(), 'utf8')).toBe(`TargetToken ${NEW}\n`);
    expect((await on.poll()).last_error).toBeUndefined();
  },
);
