import { execFileSync } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import type { TestDaemon } from '../../device/daemon.ts';
import type { Device } from '../../device/device.ts';
import { createFeed, type Feed } from '../../device/feed.ts';
import { createUsignPair } from '../../device/usign.ts';
import { ANOTHER_USER, canBeAnother } from '../../support/another-user.ts';
import { aroundTests } from '../../support/around-tests.ts';
import { change, expectNothingLeft, feedOf } from './feed-answer.ts';
import { CUSTOM, PACKAGES, startFeedDaemon } from './feed-daemon.ts';
import {
  expectFeedsAnswered,
  ODD_FILES,
  prepareServer,
  redirectTo,
  sendForEver,
} from './hostile-feed.ts';

const LISTS = 'tmp/opkg-lists';

let device: Device;
let daemon: TestDaemon;
let feed: Feed;

let close: () => Promise<void>;

const nothingChanged = aroundTests(
  async () => {
    ({ device, daemon, feed, close } = await startFeedDaemon());
  },
  () => close(),
);

describe('nothing changes, and nothing is left, if the server', () => {
  const server = prepareServer();

  test.each([
    ['sends without end', sendForEver, 'it is larger than 64.00 MiB'],
    ['leads to a file of the device', redirectTo('file:///etc/passwd'), 'cannot use the feed'],
    ['leads round in circles', redirectTo('/again'), 'cannot use the feed'],
    ['sends names that are none', sendNoise, 'is not a package list'],
    ['sends a list that unpacks for ever', sendBomb, 'damaged'],
  ] as const)('%s', async (_, send, reason) => {
    server.sends(send);
    const before = await device.read(CUSTOM);

    const url = server.url();
    const task = await change(daemon, 'add_feed', { name: 'mine', url });

    expect(task.state).toBe('failed');
    expect(task.error).toContain(reason);
    expect(await device.read(CUSTOM)).toBe(before);
    await expectNothingLeft(device);
    nothingChanged();
  });

  test('is slow, and somebody stops the task', async () => {
    server.sends((response) => {
      response.writeHead(200, { 'Content-Length': 1000 }).write('Package: a');
    });
    const url = server.url();
    const id = await daemon.submit('add_feed', { name: 'mine', url });
    await expect.poll(() => daemon.logOf(id), { timeout: 10_000 }).toContain('fetching');

    await daemon.post('admin/system/tasks/stop', { task_id: id });

    expect((await daemon.finished(id)).state).toBe('stopped');
    await expectNothingLeft(device);
    nothingChanged();
  });
});

describe('the remedy is about the feed if the server', () => {
  const server = prepareServer();
  const ADDRESS = 'Check the address of the feed';
  const NETWORK = 'Log in to the network first';

  test.each([
    ['does not have it', ADDRESS, (response: ServerResponse) => response.writeHead(404).end()],
    ['wants a log-in', ADDRESS, (response: ServerResponse) => response.writeHead(401).end()],
    ['sends a page', NETWORK, (response: ServerResponse) => response.end('<html>log in</html>')],
  ] as const)('%s', async (_, remedy, send) => {
    server.sends(send);
    const added = await change(daemon, 'add_feed', { name: 'mine', url: server.url() });
    expect([added.state, added.remedy]).toEqual(['failed', expect.stringContaining(remedy)]);

    await writeFile(join(device.root, CUSTOM), `src/gz mine ${server.url()}\n`);
    const updated = await daemon.finished(await daemon.submit('update'));
    expect([updated.state, updated.remedy]).toEqual(['failed', expect.stringContaining(remedy)]);
  });
});

test('a server may lead to another host', async () => {
  const server = createServer(({ url = '' }, response) => {
    response.writeHead(302, { Location: feed.url.replace('/feed', url) }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/feed`;
  expect((await change(daemon, 'add_feed', { name: 'mine', url })).state).toBe('done');
  server.close();
});

describe.skipIf(!canBeAnother)('what another user put among the lists holds nothing up:', () => {
  test.each([
    ['a fifo for a signature', 'mkfifo lab.sig && echo x > lab'],
    ['a fifo for a list', 'mkfifo lab'],
    ['a signature of a terabyte', 'truncate -s 1T lab.sig && echo x > lab'],
    ['a link for a signature', 'ln -s /dev/zero lab.sig && echo x > lab'],
  ])('%s', async (_, script) => {
    const folder = join(device.root, LISTS);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    execFileSync('/bin/sh', ['-c', `${script} && chown -hR ${ANOTHER_USER} .`], { cwd: folder });

    await expectFeedsAnswered(daemon);
    const task = await change(daemon, 'add_feed', { name: 'mine', url: feed.url });
    expect(task.error).toContain(`belongs to the user ${ANOTHER_USER}`);
    expect((await daemon.get('/healthz')).status).toBe(200);
  });
});

describe('a custom file that is', () => {
  test.each(ODD_FILES)('%s stays, and no key of the feed is trusted', async (_, reason, make) => {
    const pair = createUsignPair();
    const file = join(device.root, CUSTOM);
    const before = await readFile(file);
    await rm(file);
    await make(file);

    const params = { name: 'mine', url: feed.url, key: pair.publicKey };
    const task = await change(daemon, 'add_feed', params);

    expect(task.state).toBe('failed');
    expect(task.error).toContain(reason);
    expect(await readdir(join(device.root, 'etc/opkg/keys')).catch(() => [])).toEqual([]);
    expect(await readdir(join(device.root, LISTS))).toEqual([]);
    await expectNothingLeft(device);
    await rm(file, { recursive: true });
    await writeFile(file, before);
    nothingChanged();
  });
});

describe("the owner's lines stay byte for byte", () => {
  const NOTE = '# src/gz mine http://127.0.0.1:9/former\n#\t mine\r\n';

  test('also a former address of the same name', async () => {
    const text = `${NOTE}src/gz mine ${feed.url}\n# last`;
    await writeFile(join(device.root, CUSTOM), text);
    expect(await feedOf(daemon, 'mine')).toMatchObject({ url: feed.url, enabled: true });

    expect((await change(daemon, 'set_feed', { name: 'mine', enabled: '0' })).state).toBe('done');
    expect(await device.read(CUSTOM)).toBe(`${NOTE}# src/gz mine ${feed.url}\n# last`);
    expect((await change(daemon, 'set_feed', { name: 'mine', enabled: '1' })).state).toBe('done');
    expect(await device.read(CUSTOM)).toBe(text);
    expect((await change(daemon, 'remove_feed', { name: 'mine' })).state).toBe('done');
    expect(await device.read(CUSTOM)).toBe(`${NOTE}# last`);
  });

  test('a feed whose name leads out of the folder of lists is not switched on', async () => {
    await writeFile(join(device.root, CUSTOM), `# src/gz ../../etc/profile ${feed.url}\n`);
    const task = await change(daemon, 'set_feed', { name: '../../etc/profile', enabled: '1' });
    expect(task).toMatchObject({ state: 'failed' });
    expect(task.error).toContain('no file name');
    expect(await device.read('etc/profile')).toBeUndefined();
  });
});

test.each([
  ['two keys', (key: string) => `${key}${createUsignPair().publicKey}`],
  ['a line more', (key: string) => `${key}more\n`],
  ['no base64', () => 'untrusted comment: x\n$(id)\n'],
])('a key with %s is refused and not written', async (_, make) => {
  const key = make(createUsignPair().publicKey);
  const task = await change(daemon, 'add_feed', { name: 'mine', url: feed.url, key });
  expect(task.state).toBe('failed');
  expect(task.error).toContain('it is no public key of usign');
  expect(await readdir(join(device.root, 'etc/opkg/keys')).catch(() => [])).toEqual([]);
  nothingChanged();
});

test.each([['unicode ß'], ['\0'], [''], ['k'.repeat(5000)], ['k'.repeat(10 * 1024 ** 2)]])(
  'what cannot be the text of a key is refused at once',
  async (key) => {
    const token = await daemon.token();
    const answer = await fetch(`${daemon.url}${daemon.base}/admin/store/add_feed`, {
      method: 'POST',
      body: new URLSearchParams({ token, name: 'mine', url: feed.url, key }),
    });
    expect([400, 413]).toContain(answer.status);
    nothingChanged();
  },
);

test('of two feeds of one name that are added at once, one is there afterwards', async () => {
  const other = await createFeed(PACKAGES);
  const ids = await Promise.all(
    [feed.url, other.url].map((url) => daemon.submit('add_feed', { name: 'mine', url })),
  );
  const states = await Promise.all(ids.map(async (id) => (await daemon.finished(id)).state));
  expect(states.sort()).toEqual(['done', 'failed']);
  expect(((await device.read(CUSTOM)) ?? '').match(/src\/gz mine/g)).toHaveLength(1);
  expect(await readFile(join(device.root, LISTS, 'mine'))).not.toHaveLength(0);
  await other.close();
});

function sendNoise(response: ServerResponse): void {
  response.end(Buffer.alloc(100_000, 'a: b\n\n'));
}

/** 100 MB of one field. */
function sendBomb(response: ServerResponse): void {
  response.end(gzipSync(Buffer.alloc(100 * 1024 ** 2, 'Package: x')));
}
