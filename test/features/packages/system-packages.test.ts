import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { planOf, type PlanAnswer } from '../preview/preview-answer.ts';
import { MANAGERS, openStores, type EitherStore, type Manager } from '../store/open-stores.ts';

const FEED = [
  simplePackage('dnsmasq'),
  simplePackage('uhttpd'),
  simplePackage('from-image'),
  simplePackage('luci', { fields: { Depends: 'uhttpd' } }),
];
/** Where OpenWrt has the image's own record. */
const IMAGE: Record<Manager, [string, string]> = {
  opkg: [
    'rom/usr/lib/opkg/status',
    'Package: libc\nVersion: 1\nStatus: install ok installed\n\n' +
      'Package: from-image\nVersion: 1.0-1\nStatus: install user installed\n\n',
  ],
  apk: ['rom/lib/apk/db/installed', 'P:libc\n\nP:from-image\n\n'],
};

let stores: Record<Manager, EitherStore>;
beforeAll(async () => {
  stores = await openStores(FEED);
  for (const manager of MANAGERS) {
    const { device, run } = stores[manager];
    for (const name of ['dnsmasq', 'from-image', 'luci', 'demo']) {
      expect(await run('install', { package: name })).toMatchObject({ state: 'done' });
    }
    const [path, text] = IMAGE[manager];
    await mkdir(dirname(join(device.root, path)), { recursive: true });
    await writeFile(join(device.root, path), text);
  }
}, 60_000);
afterAll(async () => {
  for (const manager of MANAGERS) await stores[manager].close();
});

describe.each(MANAGERS)('%s', (manager) => {
  const answerOf = async (path: string): Promise<unknown> =>
    (await stores[manager].daemon.get(`admin/store/${path}`)).json();

  test.each([
    ['dnsmasq', 'dnsmasq', 'devices of the network find no names and get no addresses'],
    ['from-image', 'from-image', 'it is part of the firmware, which may need it'],
    ['luci', 'uhttpd', 'uhttpd would go with it: this page cannot be opened any more'],
  ])('%s stays unless its removal is said to be meant', async (name, about, reason) => {
    const { daemon, run, statusOf } = stores[manager];

    const plan = await planOf(daemon, 'remove', name);
    const task = await run('remove', { package: name });

    expect(plan).toMatchObject({ is_possible: false, removes: [] });
    expect(plan.problems).toEqual([
      {
        code: 'essential',
        package: about,
        message: `cannot remove ${name}: ${reason}`,
        remedy: expect.stringContaining('"depotctl remove --system"') as string,
      },
    ]);
    expect(task).toMatchObject({
      state: 'failed',
      error_code: 'essential',
      error: plan.problems[0]?.message,
      remedy: plan.problems[0]?.remedy,
    });
    expect(await statusOf(name)).toMatchObject({ installed: true });
  });

  test('with system=1 the plan says what stops, and the task removes it', async () => {
    const { run, statusOf } = stores[manager];

    const plan = (await answerOf('plan?operation=remove&package=dnsmasq&system=1')) as PlanAnswer;

    expect(plan).toMatchObject({ is_possible: true, problems: [], stops: [{ what: 'names' }] });
    expect(await answerOf('details?package=luci')).toMatchObject({ stops: [{ what: 'page' }] });
    expect(await answerOf('details?package=demo')).not.toHaveProperty('stops');
    expect(await run('remove', { package: 'dnsmasq', system: '1' })).toMatchObject({
      state: 'done',
    });
    expect(await statusOf('dnsmasq')).toEqual({ installed: false });
  });

  test('lists name what the device stands on, and nothing else, as part of the system', async () => {
    const { items } = (await answerOf('available?kind=all&state=installed')) as {
      items: { name: string; is_system: boolean }[];
    };

    const names = items.filter(({ is_system: isSystem }) => isSystem).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['from-image', 'libc', 'uhttpd']));
    expect(names).not.toEqual(expect.arrayContaining(['demo']));
    expect(names).not.toEqual(expect.arrayContaining(['luci']));
  });

  test('a removal says what it leaves: settings that were changed', async () => {
    const { device, daemon, run } = stores[manager];
    await appendFile(join(device.root, 'etc/config/demo-app'), "\toption mine '1'\n");

    const plan = await planOf(daemon, 'remove', 'demo');
    const { state, log } = await run('remove', { package: 'demo' });

    expect(plan).toMatchObject({ settings: ['/etc/config/demo-app'] });
    expect([state, log]).toEqual([
      'done',
      expect.stringContaining('what was changed in its settings stays: /etc/config/demo-app'),
    ]);
  });
});
