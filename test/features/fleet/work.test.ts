import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';

import {
  ipk,
  moduleOf,
  planOf,
  type FleetDevice,
  type FleetDeviceOptions,
} from './fleet-device.ts';
import type { PublishedModule } from './fleet-server.ts';
import { shareFleetDevice } from './shared-device.ts';
import type { StandIn } from './stand-in.ts';

let server: StandIn;
let on: FleetDevice;

const ALLOWED = ['install', 'upgrade', 'remove', 'run', 'settings', 'self_upgrade'].map(
  (name) => `fleet.allow=${name}`,
);
const NAMED = ['app.none.url', 'app.main.url', 'odd.main.url'].map(
  (name) => `fleet.settings=${name}`,
);

shareFleetDevice({ set: [...ALLOWED, ...NAMED] }, (...shared) => ([server, on] = shared));

test('a file that another file of the same set depends on comes first', async () => {
  const action = await on.rollOut(
    moduleOf(ipk('aaa', { fields: { Depends: 'bbb' } }), ipk('bbb'), ipk('ccc')),
  );

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect(await on.names()).toEqual(['aaa', 'bbb', 'ccc', 'libc']);
});

test('an app is installed by its name, and upgraded by the next set', async () => {
  await on.over(await on.rollOut(planOf({ version: 1, install: ['demo'] })));
  expect((await on.device.database()).get('app-meta-demo')?.version).toBe('1.0-1');
  on.device.publish(2);

  const action = await on.rollOut(planOf({ version: 1, upgrade: ['demo', 'demo-app'] }));

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect((await on.device.database()).get('demo-app')?.version).toBe('1.1-1');
});

test.each([
  ['installs what no feed has', { install: ['absent'] }, 'not_found'],
  ['removes what the device needs', { remove: ['libc'] }, 'essential'],
  ['sets what has no section', { settings: { 'app.none.url': 'x' } }, 'not_found'],
])('a plan that %s fails by its code before anything is changed', async (_, plan, code) => {
  const action = await on.rollOut(planOf({ version: 1, ...plan }), moduleOf(ipk('one')));

  const { status, messages } = await on.over(action);

  expect(status).toBe('error');
  expect(messages).toContain(`error_code ${code}`);
  expect(await on.names()).toEqual(['libc']);
});

test('what the device stands on is removed only by a plan that says so', async () => {
  await on.over(await on.rollOut(moduleOf(ipk('dnsmasq'))));

  const refused = await on.over(await on.rollOut(planOf({ version: 1, remove: ['dnsmasq'] })));
  expect([refused.status, refused.messages.includes('error_code essential')]).toEqual([
    ...['error', true],
  ]);
  expect(await on.names()).toEqual(['dnsmasq', 'libc']);

  const plan = planOf({ version: 1, remove: ['dnsmasq'], system: true });
  expect(await on.over(await on.rollOut(plan))).toMatchObject({ status: 'finished' });
  expect(await on.names()).toEqual(['libc']);
});

describe('settings', () => {
  const config = (): string => join(on.device.root, 'etc/config/app');
  const before =
    "# the app\nconfig app 'main'\n\toption url 'http://old' # where\n\tlist tag 'a'\n";

  test('on the list are set, and every other line stays', async () => {
    await writeFile(config(), before);
    const action = await on.rollOut(
      planOf({ version: 1, settings: { 'app.main.url': "http://n'ew" } }),
    );

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect(await readFile(config(), 'utf8')).toBe(
      before.replace("'http://old'", String.raw`'http://n'\''ew'`),
    );
  });

  test('in a file that cannot be changed so fail before anything is changed', async () => {
    await writeFile(config(), before);
    const odd = "config odd 'main'; option url 'old'\n";
    await writeFile(join(on.device.root, 'etc/config/odd'), odd);
    const settings = { 'app.main.url': 'x', 'odd.main.url': 'x' };
    const action = await on.rollOut(planOf({ version: 1, settings }), moduleOf(ipk('one')));

    expect(await on.over(action)).toMatchObject({ status: 'error' });
    expect(await readFile(config(), 'utf8')).toBe(before);
    expect(await on.names()).toEqual(['libc']);
  });
});

test('a program that is allowed runs after the packages, and its exit code is reported', async () => {
  const script = (end: string): Buffer =>
    Buffer.from(`#!/bin/sh\nls ${on.device.root}/usr/lib/opkg/info/one.control && ${end}\n`);
  const good = await on.rollOut(moduleOf(ipk('one')), { files: { 'a.run': script('exit 0') } });
  expect(await on.over(good)).toMatchObject({ status: 'finished' });

  const bad = await on.rollOut({ files: { 'b.run': script('exit 7') } });

  const { status, messages } = await on.over(bad);
  expect(status).toBe('error');
  expect(messages.join('\n')).toContain('cannot run b.run: it ended with exit code 7');
});

test("depotd's own upgrade comes last, and what becomes of it is the end of the action", async () => {
  const action = await on.rollOut(moduleOf(ipk('one')), planOf({ version: 1, self_upgrade: true }));

  const { status, messages } = await on.over(action);

  // On this device depotd is no package.
  expect(status).toBe('error');
  expect(messages.join('\n')).toContain('depotd is not installed as a package');
  expect(await on.names()).toEqual(['libc', 'one']);
});

describe('with a key of its owner', () => {
  const number = Buffer.from('0123456789abcdef', 'hex');
  const file = (bytes: Buffer): string =>
    `untrusted comment: a test\n${Buffer.concat([Buffer.from('Ed'), number, bytes]).toString('base64')}\n`;
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const signed = (content: Buffer, key: KeyObject = privateKey): Buffer =>
    Buffer.from(file(sign(null, content, key)));
  const one = ipk('one');
  const other = generateKeyPairSync('ed25519').privateKey;
  const plan = JSON.stringify({ version: 1, install: ['tiny-01'] });

  let folder: string;
  const withKey = async (): Promise<FleetDeviceOptions> => {
    folder = await mkdtemp(join(tmpdir(), 'depotd-key-'));
    const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
    await writeFile(join(folder, 'key.pub'), file(raw));
    return { set: [...ALLOWED, `fleet.key_file=${join(folder, 'key.pub')}`] };
  };
  afterAll(() => rm(folder, { recursive: true }));
  shareFleetDevice(withKey, (...shared) => ([server, on] = shared));

  test('a file and a plan that are signed with it are done', async () => {
    const action = await on.rollOut(
      { files: { 'one.ipk': one.bytes, 'one.ipk.sig': signed(one.bytes) } },
      {
        metadata: {
          'depotd.plan': plan,
          'depotd.plan.sig': signed(Buffer.from(plan)).toString(),
        },
      },
    );

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect(await on.names()).toEqual(['libc', 'one', 'tiny-01']);
  });

  test.each<[string, () => PublishedModule]>([
    ['has no signature', () => ({ files: { 'one.ipk': one.bytes } })],
    [
      'has one of another key',
      () => ({ files: { 'one.ipk': one.bytes, 'one.ipk.sig': signed(one.bytes, other) } }),
    ],
    [
      'has one of another file',
      () => ({ files: { 'one.ipk': one.bytes, 'one.ipk.sig': signed(Buffer.from('x')) } }),
    ],
    [
      'has one that is none',
      () => ({ files: { 'one.ipk': one.bytes, 'one.ipk.sig': Buffer.from('trust me') } }),
    ],
    ['is a plan without a signature', () => ({ metadata: { 'depotd.plan': plan } })],
    [
      'is a plan with one of another plan',
      () => ({
        metadata: { 'depotd.plan': plan, 'depotd.plan.sig': signed(one.bytes).toString() },
      }),
    ],
  ])('what %s is not done', async (_, module) => {
    const { status } = await on.over(await on.rollOut(module()));

    expect(status).toBe('error');
    expect(await on.names()).toEqual(['libc']);
  });
});

test('a download that breaks off goes on where it was', async () => {
  const large = ipk('large', { files: { '/usr/share/large': 'x'.repeat(2_000_000) } });
  const fetched = join(on.device.root, 'tmp/depotd/fleet');
  const partSizes = async (): Promise<number[]> => {
    const found = (await readdir(fetched)).filter((name) => name.endsWith('.part'));
    return Promise.all(found.map(async (name) => (await stat(join(fetched, name))).size));
  };
  let isCut = false;
  const intercept: StandIn['intercept'] = (request, response) => {
    if (isCut || request.url?.includes('/artifacts/') !== true) return false;
    isCut = true;
    response.writeHead(200);
    response.write(large.bytes.subarray(0, 1000));
    // What is on the way when a connection breaks may be lost: it breaks when all is on the disk.
    void vi
      .waitFor(async () => expect(await partSizes()).toEqual([1000]), { timeout: 20_000 })
      .finally(() => response.destroy());
    return true;
  };
  const ranges: string[] = [];
  server.intercept = (request, response) => {
    if (request.headers.range !== undefined) ranges.push(request.headers.range);
    return intercept(request, response);
  };
  const action = await on.rollOut(moduleOf(large));

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect(ranges).toEqual(['bytes=1000-']);
});
