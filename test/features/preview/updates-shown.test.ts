import { afterEach, describe, expect, test } from 'vitest';

import { createApkDevice } from '../../device/apk-device/apk-device.ts';
import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { startDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { change } from '../feeds/feed-answer.ts';
import { planOf } from './preview-answer.ts';

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

/** With what the manager itself says it would upgrade, given what the owner holds. */
async function openOpkg() {
  const device = await createDevice();
  const names = async (held: readonly string[]): Promise<string[]> => {
    const { stdout } = await device.opkg('list-upgradable');
    const lines = stdout.split('\n').filter((line) => / - .* - /.test(line));
    return lines.map((line) => line.split(' - ')[0] ?? '').filter((name) => !held.includes(name));
  };
  const publish = (): void => device.publish(2);
  return { device, names, publish, more: [] };
}

async function openApk() {
  // Hashes have no order as numbers.
  const kernels = (first: string, second: string): ApkFeedPackage[] => [
    { name: 'kmod-one', version: `6.6.110~${first}-r1` },
    { name: 'kmod-two', version: `6.6.110~${second}-r1` },
  ];
  const device = await createApkDevice({ packages: kernels('9b1c', '14a8') });
  const publish = (): void => device.publishPackages(kernels('14a8', '9b1c'), 2);
  const names = async (): Promise<string[]> => {
    const { stdout } = await device.apk('upgrade', '--simulate');
    return Array.from(stdout.matchAll(/Upgrading (\S+) \(/g), ([, name = '']) => name);
  };
  return { device, names, publish, more: ['kmod-one', 'kmod-two'] };
}

describe.each([
  ['opkg', openOpkg],
  ['apk', openApk],
] as const)('with %s', (_, open) => {
  test('the updates shown are what the manager would upgrade, held ones left out', async () => {
    const { device, names, publish, more } = await open();
    closing.push(() => device.close());
    const daemon = await startDaemon(device);
    closing.push(() => daemon.close());
    await change(daemon, 'update', {});
    for (const name of ['demo', 'notes', ...more]) {
      expect((await change(daemon, 'install', { package: name })).state).toBe('done');
    }
    publish();
    await change(daemon, 'update', {});
    const shown = async (): Promise<string[]> => {
      const path = 'admin/store/available?state=upgradable&kind=all&per_page=100';
      const { items } = (await (await daemon.get(path)).json()) as {
        items: { name: string; kind: string; is_held?: boolean }[];
      };
      const notHeld = items.filter((item) => item.is_held !== true);
      return notHeld.map(({ name, kind }) => (kind === 'app' ? `app-meta-${name}` : name)).sort();
    };
    const all = (await names([])).sort();
    expect(all.length).toBeGreaterThan(1);
    expect(await shown()).toEqual(all);
    expect((await planOf(daemon, 'upgrade')).upgrades.map(({ name }) => name).sort()).toEqual(all);

    expect((await daemon.post('admin/store/hold', { package: 'libdemo' })).status).toBe(200);

    const rest = (await names(['libdemo'])).sort();
    expect(rest).toEqual(all.filter((name) => name !== 'libdemo'));
    expect(await shown()).toEqual(rest);
    const plan = await planOf(daemon, 'upgrade');
    expect(plan.upgrades.map(({ name }) => name).sort()).toEqual(rest);
    expect((await change(daemon, 'upgrade', { all: 'true' })).state).toBe('done');
    expect(await names(['libdemo'])).toEqual([]);
    expect(await shown()).toEqual([]);
  });
});
