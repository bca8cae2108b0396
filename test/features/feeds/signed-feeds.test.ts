import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { TestDaemon } from '../../device/daemon.ts';
import type { Device } from '../../device/device.ts';
import { createFeedOf, type Feed } from '../../device/feed.ts';
import { createFeedFiles } from '../../device/feed-index.ts';
import { aroundTests } from '../../support/around-tests.ts';
import { createUsignPair, type UsignPair } from '../../device/usign.ts';
import { change, feedOf, feedsOf, findingOf } from './feed-answer.ts';
import { CUSTOM, PACKAGES, startFeedDaemon } from './feed-daemon.ts';

let device: Device;
let daemon: TestDaemon;
let close: () => Promise<void>;

const nothingChanged = aroundTests(
  async () => {
    ({ device, daemon, close } = await startFeedDaemon());
  },
  () => close(),
);

describe('where opkg checks signatures', () => {
  let signed: Feed;
  let pair: UsignPair;
  beforeEach(async () => {
    pair = createUsignPair();
    const files = createFeedFiles(PACKAGES);
    const list = gunzipSync(files.get('Packages.gz') ?? Buffer.alloc(0));
    signed = await createFeedOf(new Map([...files, ['Packages.sig', pair.sign(list)]]));
    await writeFile(join(device.root, 'etc/opkg/signed.conf'), 'option check_signature\n');
  });
  afterEach(() => signed.close());

  test('a feed whose key is missing is refused, and the key is named', async () => {
    const before = await device.read(CUSTOM);
    expect(await change(daemon, 'add_feed', { name: 'mine', url: signed.url })).toMatchObject({
      state: 'failed',
      error_code: 'signature',
      error: expect.stringContaining(`the key ${pair.id}, which is not there`) as string,
    });
    expect(await device.read(CUSTOM)).toBe(before);
    nothingChanged();
  });

  test('one that brings its key is added, and the key is listed', async () => {
    const params = { name: 'mine', url: signed.url, key: pair.publicKey };
    expect((await change(daemon, 'add_feed', params)).state).toBe('done');
    expect(await device.read(`etc/opkg/keys/${pair.id}`)).toBe(pair.publicKey);
    expect((await feedsOf(daemon)).keys.map(({ id }) => id)).toEqual([pair.id]);
    expect((await feedOf(daemon, 'mine'))?.key).toBe(pair.id);
  });

  test.each([
    ['a signature that does not fit', 'its signature by the key'],
    ['another key', 'which is not there'],
    ['no signature', 'the server does not have it'],
    ['a page for a signature', 'a web page'],
  ])('one with %s is refused', async (what, reason) => {
    if (what === 'a signature that does not fit') {
      const files = createFeedFiles(PACKAGES);
      signed.publishFiles(new Map([...files, ['Packages.sig', pair.sign(Buffer.from('x'))]]));
    }
    if (what === 'no signature') signed.misbehave('Packages.sig', 'missing');
    if (what === 'a page for a signature') signed.misbehave('Packages.sig', 'html');
    const key = what === 'another key' ? createUsignPair().publicKey : pair.publicKey;
    const task = await change(daemon, 'add_feed', { name: 'mine', url: signed.url, key });
    expect(task.state).toBe('failed');
    expect(task.error).toContain(reason);
    expect(await readdir(join(device.root, 'etc/opkg/keys'))).toEqual([]);
    nothingChanged();
  });

  test.each([
    ['the list was changed', 'Try later or from another network: the list was changed on its way.'],
    [
      'its key is not known',
      "Add the feed's public key if you trust the feed, or remove the feed.",
    ],
    ['a web page came', 'Log in to the network first: a web page came in place of the list.'],
    ['it has no signature', 'Ask whoever runs the feed to sign it, or remove the feed.'],
  ])('if %s, task, feed and doctor have one advice for it', async (what, remedy) => {
    const key = what === 'its key is not known' ? createUsignPair().publicKey : pair.publicKey;
    expect((await change(daemon, 'set_feed', { name: 'lab', enabled: '0' })).state).toBe('done');
    const added = { name: 'mine', url: signed.url, key: pair.publicKey };
    expect((await change(daemon, 'add_feed', added)).state).toBe('done');
    const options = 'option check_signature\noption verify_program /bin/false\n';
    await writeFile(join(device.root, 'etc/opkg/signed.conf'), options);
    await writeFile(join(device.root, 'etc/opkg/keys', pair.id), key);
    if (what === 'the list was changed') {
      const files = createFeedFiles([]);
      signed.publishFiles(new Map([...files, ['Packages.sig', pair.sign(Buffer.from('x'))]]));
    }
    if (what === 'a web page came') signed.misbehave('Packages.gz', 'html');
    if (what === 'it has no signature') signed.misbehave('Packages.sig', 'missing');

    const task = await change(daemon, 'update', {});

    expect([task.state, task.remedy]).toEqual(['failed', remedy]);
    expect(await feedOf(daemon, 'mine')).toMatchObject({ remedy });
    expect(await findingOf(daemon, 'feeds')).toMatchObject({ state: 'warning', remedy });
  });

  test('a key that would replace another one of its id is refused', async () => {
    const [comment] = createUsignPair().publicKey.split('\n');
    const other = Buffer.from(pair.publicKey.split('\n')[1] ?? '', 'base64');
    other.writeUInt8(other.readUInt8(20) ^ 1, 20);
    const text = `${comment}\n${other.toString('base64')}\n`;
    await writeFile(join(device.root, `etc/opkg/keys/${pair.id}`), text);
    const params = { name: 'mine', url: signed.url, key: pair.publicKey };
    const task = await change(daemon, 'add_feed', params);
    expect(task.state).toBe('failed');
    expect(task.error).toContain('another one of that id');
    expect(await device.read(`etc/opkg/keys/${pair.id}`)).toBe(text);
    expect(await feedOf(daemon, 'mine')).toBeUndefined();
  });
});
