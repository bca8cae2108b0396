import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';

/** One plan for many devices: sections made and removed, values with what is a device's own. */
let on: FleetDevice;
const BEFORE = `# ours
config wifi-device 'radio'
	option channel '1'

config wifi-iface 'old'
	option ssid 'Old'
	option key 'secret-before'

# of the main network
config wifi-iface 'main'
	option ssid 'Main'
	option isolate '1'
`;
const file = (): string => join(on.device.root, 'etc/config/wireless');
const text = (): Promise<string> => readFile(file(), 'utf8');
const SETTINGS = {
  'wireless.guest.ssid': 'Guest %attr.tag.site %% %hostname',
  'wireless.guest.key': 'secret-after',
  'wireless.guest': 'wifi-iface',
  'wireless.old': null,
  'wireless.main.ssid': 'Main 2',
  'wireless.main.isolate': null,
};
const rollOut = (plan: object): Promise<string> =>
  on.rollOut(planOf({ version: 1, ...plan }), moduleOf(ipk('one')));

shareFleetDevice(
  {
    set: [
      ...['install', 'settings', 'run'].map((name) => `fleet.allow=${name}`),
      ...['guest', 'old', 'main.ssid', 'main.isolate'].map(
        (name) => `fleet.settings=wireless.${name}`,
      ),
      'fleet.tags=site=north',
    ],
  },
  (_, shared) => (on = shared),
);
beforeEach(async () => {
  for (const folder of ['etc/config', 'proc/sys/kernel']) {
    await mkdir(join(on.device.root, folder), { recursive: true });
  }
  await writeFile(join(on.device.root, 'proc/sys/kernel/hostname'), 'box-7\n');
  await writeFile(file(), BEFORE);
});

test('sections come and go, values are the device’s own, and the server has the difference', async () => {
  const { status, messages } = await on.over(
    await rollOut({ variables: true, settings: SETTINGS }),
  );

  expect([status, messages.join('\n')]).toEqual(['finished', expect.anything()]);
  expect(await text()).toBe(`# ours
config wifi-device 'radio'
	option channel '1'


# of the main network
config wifi-iface 'main'
	option ssid 'Main 2'

config wifi-iface 'guest'
	option key 'secret-after'
	option ssid 'Guest north % box-7'
`);
  expect(messages).toEqual(
    expect.arrayContaining(
      [
        'wireless.old: removed (wifi-iface)',
        'wireless.guest: wifi-iface',
        'wireless.guest.ssid: (none) → Guest north % box-7',
        'wireless.main.ssid: Main → Main 2',
        'wireless.main.isolate: 1 → (none)',
      ].map((line) => line.replaceAll('<', '[')),
    ),
  );
  expect(messages.join('\n')).toContain('wireless.guest.key: (none) → (hidden)');
  expect(messages.join('\n')).not.toContain('secret-');
});

test('all of it is put back when the action fails', async () => {
  const verify = [{ command: ['/bin/false'], seconds: 2 }];
  const action = await rollOut({ variables: true, settings: SETTINGS, verify });

  const { status, messages } = await on.over(action);

  expect(status).toBe('error');
  expect(await text()).toBe(BEFORE);
  expect(messages.join('\n')).not.toContain('secret-');
});

test.each([
  ['a variable that nobody knows', { 'wireless.main.ssid': 'a %nothing' }, '%nothing'],
  ['an attribute that is not there', { 'wireless.main.ssid': '%attr.tag.no' }, '%attr.tag.no'],
  [
    'a section that is there as another',
    { 'wireless.guest': 'x', 'wireless.old': 'y' },
    'is there',
  ],
  ['an option of a removed section', { 'wireless.old': null, 'wireless.old.ssid': 'x' }, 'no such'],
  ['a section that is not allowed', { 'wireless.main': null }, 'fleet.settings'],
  ['a section without a good type', { 'wireless.guest': "a'b" }, 'needs the type'],
  [
    'a section of a file that is not there',
    { 'wireless.guest': 'x', 'none.a': 'x' },
    'fleet.settings',
  ],
])('%s is refused before anything is changed', async (_, settings, said) => {
  const { status, messages } = await on.over(await rollOut({ variables: true, settings }));

  expect([status, messages.join('\n')]).toEqual(['error', expect.stringContaining(said)]);
  expect(await text()).toBe(BEFORE);
  expect(await on.names()).toEqual(['libc']);
});

test('without variables a percent sign is one', async () => {
  const settings = { 'wireless.main.ssid': '100 %hostname' };

  expect(await on.over(await rollOut({ settings }))).toMatchObject({ status: 'finished' });

  expect(await text()).toContain("option ssid '100 %hostname'");
});
