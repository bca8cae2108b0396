import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, expect, test } from 'vitest';

import { toApkPackage } from '../../device/apk-device/apk-conversion.ts';
import type { TaskStatus } from '../../device/daemon.ts';
import type { FeedPackage } from '../../device/feed-index.ts';
import { openApkStore, type ApkStore } from '../../package-management/apk/open-store.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import type { UndoStatus } from './undo-tasks.ts';

/** Upgrades that are drawn; a search by hand draws more: `CUTS=50 OPKG=…`, or with `CUTS_ON=apk APK=…`. */
const CUTS = Number(process.env.CUTS ?? 1);
const SEED = Number(process.env.CUTS_SEED ?? 1);
/** They wait most of their time. */
const AT_ONCE = 6;
/** The least that can be asked for. */
const CONFIRM_S = 30;
const LATE_S = 30;
/** Of a task, on a machine that is busy with others. */
const LIMIT_MS = 150_000;

const ADDRESS = 'option ipaddr 192.0.2.1\n';
const OPEN = 'option input ACCEPT\n';

/** The web server in front of the daemon, on a network and behind a firewall. */
const SERVER = `
const { readFileSync, writeFileSync } = require('node:fs');
const { connect, createServer } = require('node:net');
const root = process.argv[2];
const read = (file) => { try { return readFileSync(root + file, 'utf8'); } catch { return ''; } };
const server = createServer((socket) => {
  socket.on('error', () => {});
  const isReachable = read('/etc/config/network') === ${JSON.stringify(ADDRESS)} &&
    read('/etc/config/firewall') === ${JSON.stringify(OPEN)};
  if (!isReachable) return socket.destroy();
  const daemon = connect(Number(read('/mnt/daemon-port')), '127.0.0.1');
  daemon.on('error', () => socket.destroy());
  socket.pipe(daemon).pipe(socket);
});
server.listen(Number(read('/mnt/port')), '127.0.0.1', () => {
  writeFileSync(root + '/mnt/port', String(server.address().port));
});
`;
const STOP = '{ kill "$(cat "$IPKG_INSTROOT/mnt/pid")" && sleep 0.2; } 2>/dev/null';
const START =
  `${STOP}; setsid '${process.execPath}' "$IPKG_INSTROOT/usr/sbin/way" "$IPKG_INSTROOT" ` +
  '</dev/null >/dev/null 2>&1 & echo $! >"$IPKG_INSTROOT/mnt/pid"';

const WAYS = ['network', 'firewall', 'web server', 'web server that is broken'] as const;
type Way = (typeof WAYS)[number];

function upgraded(version: 1 | 2, way: Way): FeedPackage {
  const isBad = version === 2;
  const acts: Record<Way, string> = {
    network: `echo 'option proto dhcp' >"$IPKG_INSTROOT/etc/config/network"; ${START}`,
    firewall: START,
    'web server': STOP,
    'web server that is broken': START,
  };
  return {
    name: 'way',
    version: `${version}.0-1`,
    architecture: 'all',
    files: {
      '/usr/sbin/way': isBad && way === 'web server that is broken' ? 'process.exit(1)' : SERVER,
      '/etc/config/firewall': isBad && way === 'firewall' ? 'option input DROP\n' : OPEN,
    },
    conffiles: ['/etc/config/firewall'],
    scripts: { postinst: `#!/bin/sh\n${isBad ? acts[way] : START}\nexit 0\n` },
  };
}

const opened: (Store | ApkStore)[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) {
    const pid = Number(await readFile(join(store.device.root, 'mnt/pid'), 'utf8').catch(() => ''));
    try {
      if (pid > 1) process.kill(pid);
    } catch {
      // It has ended.
    }
    await store.close();
  }
});

/** A device with the first version of the package, and its feed's way to the second one. */
async function openDevice(way: Way): Promise<(Store | ApkStore) & { publish: () => void }> {
  const [first, second] = [upgraded(1, way), upgraded(2, way)];
  if (process.env.CUTS_ON === 'apk') {
    const store = await openApkStore({ packages: [toApkPackage(first)] });
    return {
      ...store,
      publish: () => store.device.publishPackages([toApkPackage(second)]),
    };
  }
  const store = await openStore({ packages: [first], hasUsual: false });
  return { ...store, publish: () => store.device.feed.publish([second]) };
}

/** @returns seconds from the end of the upgrade until its owner reached the daemon again */
async function cutOff(way: Way, random: Random): Promise<number> {
  const store = await openDevice(way);
  opened.push(store);
  const { device, daemon } = store;
  const at = (name: string): string => join(device.root, name);
  const listensAt = (): Promise<void> => writeFile(at('mnt/daemon-port'), new URL(daemon.url).port);
  await mkdir(at('etc/config'), { recursive: true });
  await writeFile(at('etc/config/network'), ADDRESS);
  await listensAt();
  const reaches = async (): Promise<boolean> => {
    const port = await readFile(at('mnt/port'), 'utf8').catch(() => '');
    const signal = AbortSignal.timeout(5000);
    const answer = fetch(`http://127.0.0.1:${port}/healthz`, { signal });
    return answer.then(
      ({ status }) => status === 200,
      () => false,
    );
  };
  const run = async (operation: string, params = {}): Promise<TaskStatus & { id: string }> => {
    const id = await daemon.submit(operation, params);
    return { ...(await daemon.finished(id, LIMIT_MS)), id };
  };
  expect((await run('install', { package: 'way' })).state).toBe('done');
  await expect.poll(reaches).toBe(true);

  store.publish();
  expect((await run('update')).state).toBe('done');
  const params = { package: 'way', confirm_s: String(CONFIRM_S) };
  const { id, state } = await run('upgrade', params);
  const ended = Date.now();
  expect([way, state]).toEqual([way, 'done']);
  await expect.poll(reaches).toBe(false);
  expect(((await daemon.status(id)) as UndoStatus).confirm_by).toBeDefined();

  const kill = async (): Promise<void> => {
    process.kill(daemon.pid, 'SIGKILL');
    await daemon.restart();
    await listensAt();
  };
  // In the time that is waited, and again where it goes back.
  const kills = [random.below(CONFIRM_S * 1000), CONFIRM_S * 1000 + random.below(3000)];
  const due = random.pick([[], kills.slice(0, 1), kills.slice(1), kills]);
  const deadline = ended + (CONFIRM_S + LATE_S) * 1000;
  await expect
    .poll(
      async () => {
        const [next = Infinity] = due;
        if (Date.now() - ended > next) {
          due.shift();
          await kill();
        }
        return due.length === 0 && (await reaches());
      },
      { timeout: deadline - Date.now(), interval: 250, message: `${way} of ${device.root}` },
    )
    .toBe(true);
  expect(await store.packages()).toEqual({ way: expect.stringMatching(/^1\.0-/) as string });
  return (Date.now() - ended) / 1000;
}

test(
  `after each of ${CUTS} upgrades that cut its owner off, the daemon is reached again in time`,
  { timeout: (Math.ceil(CUTS / AT_ONCE) + 1) * 400_000 },
  async () => {
    const random = createRandom(SEED);
    const times: number[] = [];
    for (let done = 0; done < CUTS; done += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, CUTS - done) }, (_, index) =>
        cutOff(WAYS[(done + index) % WAYS.length] ?? 'network', createRandom(random.below(1e9))),
      );
      times.push(...(await Promise.all(some)));
    }
    if (process.env.CUTS !== undefined) console.log(times.length, Math.max(...times));
  },
);
