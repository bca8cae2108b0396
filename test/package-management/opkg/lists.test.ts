import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { createDevice, type Device } from '../../device/device.ts';
import { nameFeeds } from '../../device/further-feeds.ts';
import { openHost, type OpkgHost } from './open-host.ts';

let device: Device;
let host: OpkgHost;
let folder: string;

beforeAll(async () => {
  device = await createDevice();
  host = await openHost(device);
  folder = join(device.root, 'var/opkg-lists');
  await device.opkg('update');
  await nameFeeds(device.root, ['plain', 'packed', 'gone', 'cut', 'odd', 'loose', 'many']);
});

afterAll(() => device.close());

test('the versions that the lists offer are found by name', async () => {
  const found = await host.manager.offers(['demo-app', 'libdemo', 'does-not-exist']);

  expect(Object.fromEntries(found)).toEqual({
    'demo-app': [{ name: 'demo-app', version: '1.0-1' }],
    libdemo: [{ name: 'libdemo', version: '1.0-1' }],
  });
});

test('a package for another kind of device is not offered', async () => {
  expect((await host.manager.offers(['wrongarch'])).size).toBe(0);
});

test("a device whose opkg is told of no architecture has the release's, as OpenWrt's opkg is built for it", async () => {
  const bare = await createDevice();
  onTestFinished(() => bare.close());
  await rm(join(bare.root, 'etc/opkg/arch.conf'));
  await nameFeeds(bare.root, ['other']);
  await writeFile(
    join(bare.root, 'var/opkg-lists/other'),
    stanza('everywhere', '1') +
      stanza('elsewhere', '1').replace('Architecture: all', 'Architecture: mips_24kc'),
  );
  const { manager } = await openHost(bare);

  expect(await manager.architecture()).toBe('x86_64');
  expect([...(await manager.offers(['everywhere', 'elsewhere'])).keys()]).toEqual(['everywhere']);
});

test('of several lists, packed and plain, the newest version comes first', async () => {
  await writeFile(
    join(folder, 'plain'),
    stanza('demo-app', '1.0-9') + stanza('demo-app', '1.0-10'),
  );
  await writeFile(join(folder, 'packed'), gzipSync(stanza('demo-app', '1.0~rc1')));
  await writeFile(join(folder, 'plain.sig'), stanza('demo-app', '9'));

  const found = await host.manager.offers(['demo-app']);

  expect(found.get('demo-app')?.map(({ version }) => version)).toEqual([
    '1.0-10',
    '1.0-9',
    '1.0-1',
    '1.0~rc1',
  ]);
});

test('a list whose feed is not configured any more offers nothing, as with opkg', async () => {
  await writeFile(join(folder, 'former'), stanza('libdemo', '9') + stanza('ghost', '1'));
  onTestFinished(() => rm(join(folder, 'former')));

  const found = await host.manager.offers(['libdemo', 'ghost']);

  expect([...found.keys()]).toEqual(['libdemo']);
  expect(found.get('libdemo')?.map(({ version }) => version)).toEqual(['1.0-1']);
});

test('a list that goes away while the lists are read is passed over', async () => {
  const gone = join(folder, 'gone');
  await symlink(join(folder, 'nowhere'), gone);
  onTestFinished(() => rm(gone));

  expect([...(await host.manager.offers(['libdemo'])).keys()]).toEqual(['libdemo']);
});

test('of a list cut off in the middle, what stands before the cut is offered', async () => {
  const whole = Array.from({ length: 3000 }, (_, index) =>
    stanza(`cut-${index}`, String(Math.sin(index))),
  ).join('');
  const packed = gzipSync(whole);
  await writeFile(join(folder, 'cut'), packed.subarray(0, packed.length / 2));

  const found = await host.manager.offers(['cut-0', 'cut-2999', 'libdemo']);

  expect([...found.keys()].sort()).toEqual(['cut-0', 'libdemo']);
});

test('a name or version that stands in another field is not taken for one', async () => {
  await writeFile(
    join(folder, 'odd'),
    `${stanza('odd', '1')}Package: other\nVersion: 1\nArchitecture: all\nDescription: text\n Package: hidden\n Version: 2\n\n`,
  );

  expect((await host.manager.offers(['hidden'])).size).toBe(0);
});

test('paragraphs may be parted by several empty lines, and the last one may lack its end', async () => {
  await writeFile(
    join(folder, 'loose'),
    `\n\n${stanza('loose-a', '1')}\n \n\n${stanza('loose-b', '2').trimEnd()}`,
  );

  expect([...(await host.manager.offers(['loose-a', 'loose-b'])).keys()].sort()).toEqual([
    'loose-a',
    'loose-b',
  ]);
});

test('a list much longer than one piece of reading is read as a whole', async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `many-${index}`);
  await writeFile(join(folder, 'many'), gzipSync(names.map((name) => stanza(name, '1')).join('')));

  expect((await host.manager.offers(names)).size).toBe(names.length);
});

test('the feed itself is a packed list', async () => {
  expect(gunzipSync(await readFile(join(folder, 'lab'))).toString()).toContain(
    'Package: demo-app\n',
  );
});

function stanza(name: string, version: string): string {
  return `Package: ${name}\nVersion: ${version}\nArchitecture: all\n\n`;
}
