import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { createOwnNames } from '../../src/device/own-names.ts';

const SYSTEM = "config system\n\toption hostname 'Router'\n\toption timezone 'GMT0'\n";
const DHCP = "config dnsmasq\n\toption local '/home/'\n\toption domain 'lan'\n";

interface Setup {
  system?: string;
  dhcp?: string;
  kernelName?: string;
  addresses?: string[];
}

type OwnNames = ReturnType<typeof createOwnNames>;

interface Watched extends OwnNames {
  uciDir: string;
  /** Sets the interfaces' addresses. */
  move: (addresses: string[]) => void;
  /** How often the interfaces were looked at. */
  looks: () => number;
  pass: (ms: number) => void;
}

async function createNames({
  system,
  dhcp,
  kernelName = 'kernel',
  addresses = [],
}: Setup = {}): Promise<Watched> {
  const uciDir = await mkdtemp(join(tmpdir(), 'depotd-names-'));
  onTestFinished(() => rm(uciDir, { recursive: true }));
  if (system !== undefined) await writeFile(join(uciDir, 'system'), system);
  if (dhcp !== undefined) await writeFile(join(uciDir, 'dhcp'), dhcp);
  let current = addresses;
  let looks = 0;
  let nowMs = 5_000_000;
  const names = createOwnNames({
    uciDir,
    kernelName: () => kernelName,
    addresses: () => {
      looks += 1;
      return current;
    },
    now: () => nowMs,
  });
  return {
    ...names,
    uciDir,
    move: (next) => (current = next),
    looks: () => looks,
    pass: (ms) => (nowMs += ms),
  };
}

const known = (names: OwnNames, candidates: readonly string[]): string[] =>
  candidates.filter((name) => names.has(name));

describe('a name of the device', () => {
  const cases: [why: string, setup: Setup, own: string[], foreign: string[]][] = [
    [
      "is UCI's hostname, alone and with each domain of dnsmasq, and .local",
      { system: SYSTEM, dhcp: DHCP },
      ['router', 'router.lan', 'router.home', 'router.local'],
      ['kernel', 'lan', 'home', 'local', 'router.', 'router.lan.evil', 'xrouter', 'router.org', ''],
    ],
    [
      "is the kernel's where UCI says none, as on Debian",
      {},
      ['kernel', 'kernel.local'],
      ['router', 'kernel.lan'],
    ],
    [
      "is the kernel's where the hostname is empty",
      { system: "config system\n\toption hostname ''\n" },
      ['kernel'],
      ['', '.local'],
    ],
    [
      'may be written with its domain, which its suffixes replace',
      { system: "config system\n\toption hostname 'nas.example.org'\n", dhcp: DHCP },
      ['nas.example.org', 'nas.local', 'nas.lan'],
      ['nas', 'nas.example.org.lan', 'nas.example.org.local', 'example.org'],
    ],
    [
      'takes the domains of several servers, with ranges and more than one a line',
      {
        system: SYSTEM,
        dhcp: "config dnsmasq 'a'\n\toption domain 'one.lan,192.168.1.0/24'\nconfig dnsmasq 'b'\n\toption local '/two/three/'\n\toption domain 'FOUR'\n",
      },
      ['router.one.lan', 'router.two', 'router.three', 'router.four'],
      ['router.192.168.1.0', 'router.lan'],
    ],
    [
      'comes from no other section, and from no text that is no name',
      {
        system:
          "config other\n\toption hostname 'decoy'\nconfig system\n\toption hostname 'a b/../c'\n",
        dhcp: "config host\n\toption domain 'decoy'\nconfig dnsmasq\n\toption domain '#'\n\toption local '//'\n",
      },
      [],
      ['decoy', 'a b/../c', 'a b/../c.local', 'kernel.decoy', 'a b/../c.#'],
    ],
    [
      'is read past mistakes in the file',
      { system: "nonsense\nconfig system\n\toption hostname 'Router'\n\toption x 'open" },
      ['router'],
      ['kernel'],
    ],
  ];
  test.for(cases)('%s', async ([, setup, own, foreign]) => {
    const names = await createNames(setup);

    expect(known(names, [...own, ...foreign])).toEqual(own);
  });
});

test('every address of an interface counts, in whatever way an IPv6 address is written', async () => {
  const names = await createNames({
    addresses: ['192.168.1.1', 'fd00:0:0:1::1', 'fe80::1%br-lan', '127.0.0.1', '::1'],
  });

  const own = ['192.168.1.1', 'fd00:0:0:1::1', 'fd00:0000::1:0:0:0:1', 'fe80::1', 'fe80:0::1'];
  const foreign = ['192.168.1.2', '192.168.1.1.evil.org', 'fd00::2', '::', '127.0.0.1', '::1'];
  expect(known(names, [...own, ...foreign])).toEqual(own);
});

test('a name and an address that change are followed, and the old ones stop to count', async () => {
  const names = await createNames({ system: SYSTEM, dhcp: DHCP, addresses: ['192.168.1.1'] });
  expect(known(names, ['router.lan', '192.168.1.1'])).toEqual(['router.lan', '192.168.1.1']);

  await writeFile(join(names.uciDir, 'new'), SYSTEM.replace('Router', 'Castle'));
  await rename(join(names.uciDir, 'new'), join(names.uciDir, 'system'));
  await writeFile(join(names.uciDir, 'dhcp'), DHCP.replace("'lan'", "'arpa'"));
  names.move(['10.0.0.1']);
  names.pass(1000);

  const all = ['router', 'router.lan', '192.168.1.1', 'castle', 'castle.arpa', '10.0.0.1'];
  expect(known(names, all)).toEqual(['castle', 'castle.arpa', '10.0.0.1']);

  await rm(join(names.uciDir, 'system'));
  names.pass(1000);
  expect(known(names, ['castle', 'kernel.arpa'])).toEqual(['kernel.arpa']);
});

test('a thousand strange names cost one look', async () => {
  const names = await createNames({ system: SYSTEM });

  for (let at = 0; at < 1000; at += 1) expect(names.has(`evil-${at}.example`)).toBe(false);
  names.pass(999);
  expect(names.has('router')).toBe(true);

  expect(names.looks()).toBe(1);
});

test('a folder in place of a file gives no names, and breaks nothing', async () => {
  const uciDir = await mkdtemp(join(tmpdir(), 'depotd-names-'));
  onTestFinished(() => rm(uciDir, { recursive: true }));
  await writeFile(join(uciDir, 'file'), '');

  for (const folder of ['nowhere', 'file']) {
    const names = createOwnNames({ uciDir: join(uciDir, folder), kernelName: () => 'kernel' });
    expect(names.has('kernel')).toBe(true);
  }
});
