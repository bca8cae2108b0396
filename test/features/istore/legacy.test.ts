import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

import { cpuSeconds } from '../../bench/measures.ts';
import { createFeed, type Feed } from '../../device/feed.ts';
import { startClientTest, type ClientTest } from '../../cli/start-depotctl.ts';

let on: ClientTest;
let feed: Feed;

const PACKAGES = [{ name: 'app-meta-istored', version: '1.0-1', architecture: 'all' }];

beforeEach(async () => {
  on = await startClientTest();
  feed = await createFeed(PACKAGES);
  onTestFinished(() => feed.close());
});

async function write(path: string, text: string): Promise<void> {
  const file = join(on.device.root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** As linkease/istore leaves a device that has updated its lists. */
async function leaveIstore(mirrors: string, files: Record<string, string>): Promise<void> {
  const origin = feed.url.replace(/\/feed$/, '');
  await write(
    'bin/is-opkg',
    `#!/bin/sh\nFEEDS_SERVER=${origin}\nFEEDS_SERVER_MIRRORS="${mirrors}"\n`,
  );
  for (const [name, text] of Object.entries(files)) {
    await write(`tmp/is-root/etc/opkg/${name}`, text);
  }
}

const legacy = async (): Promise<unknown> => (await on.daemon.get('admin/store/istore')).json();

test('a device without iStore has nothing to take over', async () => {
  expect(await legacy()).toMatchObject({ seen: false, records: 0, feeds: [] });
  expect(await on.depotctl('import', 'istore', '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('iStore is not installed here') as string,
  });
});

test('its feeds are told with their mirrors, and what is not on its own server is none of them', async () => {
  await leaveIstore('http://127.0.0.1:1/repo', {
    'meta.conf': `src/gz is_meta ${feed.url}\nsrc/gz evil http://127.0.0.1:9/feed\n`,
    'arch.conf': `src/gz --is_bad ${feed.url}/x\nsrc/gz odd ${feed.url}/$(id)\n`,
    'other.conf': `src/gz other ${feed.url}/other\n`,
  });
  await write('etc/config/istore', "config istore 'istore'\n\toption last_path '/mnt/sda1'\n");
  await write(`usr/share/istore/run-records/1-${'a'.repeat(32)}.txt`, '{}');

  expect(await legacy()).toEqual({
    seen: true,
    records: 1,
    last_path: '/mnt/sda1',
    feeds: [
      {
        name: 'is_meta',
        url: feed.url,
        mirrors: ['http://127.0.0.1:1/repo/feed'],
        is_there: false,
      },
    ],
    checks_signatures: false,
  });
});

test('a line that somebody made to be slow keeps nobody waiting', async () => {
  await leaveIstore('', { 'meta.conf': `src/gz is_meta ${feed.url}${'/'.repeat(100_000)}x\n` });
  const before = cpuSeconds(on.daemon.pid);

  expect(await legacy()).toMatchObject({ seen: true, feeds: [] });

  expect(cpuSeconds(on.daemon.pid) - before).toBeLessThan(2);
});

test('nobody is taken to have said yes; with --yes the feed comes from the first mirror that has it', async () => {
  await leaveIstore('http://127.0.0.1:1/repo', { 'meta.conf': `src/gz is_meta ${feed.url}\n` });

  const asked = await on.depotctl('import', 'istore');
  expect(asked).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /is_meta: http:\/\/127\.0\.0\.1:1\/repo\/feed, http[^]*checks no signatures[^]*nothing is added/,
    ) as string,
  });
  expect(await legacy()).toMatchObject({ feeds: [{ is_there: false }] });

  const added = await on.depotctl('import', 'istore', '--yes');
  expect(added.code).toBe(0);
  expect(`${added.stdout}${added.stderr}`).toMatch(
    /cannot use the feed is_meta \(http:\/\/127\.0\.0\.1:1\/repo\/feed\/Packages\.gz\)/,
  );
  expect(await legacy()).toMatchObject({ feeds: [{ is_there: true }] });
  const { items } = (await (await on.daemon.get('admin/store/available')).json()) as {
    items: { name: string }[];
  };
  expect(items.map(({ name }) => name)).toContain('istored');
  expect(await on.depotctl('import', 'istore')).toMatchObject({
    stderr: expect.stringContaining('its feeds are here already') as string,
  });
});
