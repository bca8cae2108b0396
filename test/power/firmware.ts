import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { runCommand } from '../device/command.ts';
import type { TaskStatus } from '../device/daemon.ts';
import { DAEMON, DAEMON_LOG, DAEMON_NODE } from './daemon-package.ts';
import {
  environment,
  installedDaemon,
  layOutRoot,
  managerOf,
  serveFeed,
  startInstalledDaemon,
  upload,
  type PowerDaemon,
} from './device.ts';
import type { Kind } from './kinds.ts';
import { DISK, ROOT } from './locations.ts';
import { APP, LIBRARY, SENT, type Manager } from './packages.ts';

const OWN_SETTINGS = "config power 'main'\n\toption own '1'\n";
const SETTINGS = `/etc/config/${APP}`;
export const DAEMON_SETTINGS = `/etc/config/${DAEMON}`;
const SCRIPT = join(ROOT, 'etc/rc.d/S95depotd-restore');
const FOLDER = join(ROOT, 'etc/depotd/after-upgrade');
const BANNER = join(ROOT, 'etc/banner');
export const SAVED = join(DISK, 'sysupgrade.tgz');
const WAITING = 'waiting for the network';
const SYSTEM_LOG = '/tmp/system-log';
/** Longer than the script waits (its `sleep` is a tenth of a device's). */
const FEED_IS_DOWN_MS = 5000;
const LIMIT_MS = 200_000;

export const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

export async function shell(script: string): Promise<void> {
  const { code, stderr } = await runCommand(['sh', '-c', script], { env: environment });
  if (code !== 0) throw new Error(`${script}: ${stderr}`);
}

export async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) {
      throw new Error(`it has not come to this: ${what}; the log: ${await textOf(SYSTEM_LOG)}`);
    }
    await delay(200);
  }
}

/** What a firmware has beside packages, and what its sysupgrade is told to keep. */
export async function writeFirmware(release: string): Promise<void> {
  const keep = '/etc/config/\n/etc/apk/world\n/etc/passwd\n/etc/rc.loc*\n';
  const files = {
    'etc/openwrt_release': `DISTRIB_ID='OpenWrt'\nDISTRIB_RELEASE='${release}'\n`,
    'etc/banner': ' OpenWrt\n',
    'etc/sysupgrade.conf': '## This file contains files and directories that should be kept\n',
    'lib/upgrade/keep.d/base-files': keep,
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(ROOT, name, '..'), { recursive: true });
    await writeFile(join(ROOT, name), text);
  }
  await mkdir(join(ROOT, 'www/luci-static/resources/view/status/include'), { recursive: true });
}

/** What runs on the device before: apps, an app that was sent, settings, the switch. */
export async function prepareOwner(isFromDisk: boolean): Promise<void> {
  const daemon = await startInstalledDaemon();
  const run = async (operation: string, params = {}): Promise<void> => {
    const { state, error } = await daemon.finished(
      await daemon.submit(operation, params),
      LIMIT_MS,
    );
    if (state !== 'done') throw new Error(`${operation}: ${state} ${error ?? ''}`);
  };
  await run('install', { package: APP });
  await writeFile(join(ROOT, SETTINGS), OWN_SETTINGS);
  await daemon.post('admin/store/set_backup', { after_upgrade: '1' });
  await until(() => isThere(SCRIPT), 'the script is there');
  if (isFromDisk) {
    await mkdir(join(ROOT, 'mnt/stick'));
    await run('backup', { with_packages: '1', path: '/mnt/stick' });
  }
  await daemon.close();
}

const NAMED =
  "$(sed -e '/^[[:space:]]*$/d' -e '/^#/d' -e 's,^/,,' etc/sysupgrade.conf lib/upgrade/keep.d/*)";
/**
 * sysupgrade: a tar with what /etc/sysupgrade.conf and keep.d name and the configuration files that
 * were changed. The first boot unpacks it.
 */
export const save = (
  to: string,
): string => `cd ${ROOT}; { find ${NAMED} \\( -type f -o -type l \\) 2>/dev/null; echo ${SETTINGS.slice(1)}; } |
    sort -u >/tmp/kept; tar -czf ${to} -T /tmp/kept`;

/** All is another one but a stick. */
export async function flash(to: Manager): Promise<void> {
  await shell(`find ${ROOT} -mindepth 1 -maxdepth 1 ! -name mnt ! -name tmp -exec rm -rf {} +
    rm -rf ${ROOT}/tmp/* ${ROOT}/tmp/.[!.]*`);
  await layOutRoot(to);
  await writeFirmware('25.12.9');
}

const problems: string[] = [];

/** @returns whether all that was installed has to come back */
export async function startServices(): Promise<boolean> {
  // As OpenWrt's first service makes them.
  await shell(`cd ${ROOT}/tmp && mkdir -p lock run log cache/apk`);
  if (await isThere(SAVED)) await shell(`tar -xzf ${SAVED} -C ${ROOT}; sync`);
  const isDue = (await isThere(join(FOLDER, 'due'))) || !(await isThere(`${ROOT}/usr/sbin/depotd`));
  if (await isThere(`${ROOT}/etc/init.d/${DAEMON}`)) {
    await shell(`sh ${ROOT}/etc/init.d/${DAEMON} boot`);
  }
  await shell(
    `DEPOTD_ROOT=${ROOT} setsid sh ${SCRIPT} boot </dev/null >/dev/null 2>&1; rm -f ${SAVED}; sync`,
  );
  return isDue;
}

/** As a device boots: its services, while the feed is down for a while (or for ever). */
export async function boot(hasFeed: boolean): Promise<PowerDaemon> {
  const isDue = await startServices();
  await delay(FEED_IS_DOWN_MS);
  const isWaiting = (await textOf(SYSTEM_LOG)).includes(WAITING);
  if (isWaiting) {
    // The log has it first; nothing comes as long as the feed is down.
    const isSaid = async (): Promise<boolean> => (await textOf(BANNER)).includes(WAITING);
    await until(isSaid, 'the banner says that it waits');
  }
  if (hasFeed) await serveFeed(1);
  await until(async () => !(await isThere(join(FOLDER, 'due'))), 'the script has ended');
  const daemon = await installedDaemon();
  await until(async () => (await restoreOf(daemon)) !== undefined, 'a restore has ended').catch(
    async (error: unknown) => {
      const tasks = await daemon.get('admin/system/tasks/status').then((answer) => answer.text());
      const due = await textOf(join(ROOT, 'etc/depotd/restore-due.json'));
      throw new Error(
        `${String(error)}; ${due}; ${tasks.slice(-1500)}; ${await textOf(DAEMON_LOG)}`,
      );
    },
  );
  const said = await textOf(SYSTEM_LOG);
  if (isDue && !said.includes('depotd is back')) problems.push(`the log does not say it: ${said}`);
  const banner = await textOf(BANNER);
  if (banner !== ' OpenWrt\n') problems.push(`the banner is ${JSON.stringify(banner)}`);
  return daemon;
}

type Restore = TaskStatus & { report?: { package: string; state: string; message?: string }[] };

/** The newest one, once nothing is under way and none is to come. */
export async function restoreOf(
  daemon: PowerDaemon,
): Promise<(Restore & { id: string }) | undefined> {
  const answer = await daemon.get('admin/system/tasks/status').catch(() => undefined);
  const all = ((await answer?.json()) ?? {}) as Record<string, Restore>;
  const isDue = (await textOf(join(ROOT, 'etc/depotd/restore-due.json'))).includes('"backup"');
  if (isDue || Object.values(all).some(({ running }) => running)) return undefined;
  const [newest] = Object.entries(all)
    .map(([id, status]) => ({ ...status, id }))
    .filter(({ kind }) => kind === 'restore')
    .sort((a, b) => b.start - a.start);
  return newest;
}

export async function look(daemon: PowerDaemon, isFromDisk: boolean): Promise<string[]> {
  const { report = [] } = (await restoreOf(daemon)) ?? {};
  const sent = report.find((line) => line.package === SENT);
  const isNamed = sent?.state === 'not_offered' && (sent.message ?? '') !== '';
  const switched = await textOf(join(ROOT, DAEMON_SETTINGS));
  const left = await runCommand(['sh', '-c', `cd ${ROOT} && ${LEFT}`]);
  return [
    ...problems,
    ...((await textOf(join(ROOT, SETTINGS))) === OWN_SETTINGS ? [] : ['the settings are lost']),
    ...(switched.includes("after_upgrade '1'") ? [] : ['the switch is lost']),
    ...(isNamed || isFromDisk ? [] : [`what cannot come is not named: ${JSON.stringify(report)}`]),
    ...(left.stdout.trim() === '' ? [] : [`left: ${left.stdout}`]),
  ];
}

/** Of the script and of a restore. */
const LEFT = `find tmp/run tmp/depotd* etc/depotd www \\( -name '*restore*' ! -name restore-due.json -o -path '*after-upgrade/due' \\
  -o -path '*after-upgrade/state' -o -name '*.before' \\) 2>/dev/null`;

export const BEFORE: NonNullable<Kind['before']> = [
  (daemon) => daemon.submit('install', { package: DAEMON }),
  upload,
];

/** What has to be there, and of it what the owner changed. */
export const OWNED: Pick<Kind, 'expected' | 'changed'> = {
  expected: { [APP]: 1, [LIBRARY]: 1, [DAEMON]: 1, [DAEMON_NODE]: 1 },
  changed: [SETTINGS, DAEMON_SETTINGS],
};

/** A firmware upgrade, acted out: what is cut is what follows its first boot. */
function firmware(options: { to?: Manager; isFromDisk?: boolean }): Kind {
  const { isFromDisk = false } = options;
  return {
    before: isFromDisk ? BEFORE.slice(0, 1) : BEFORE,
    prepared: async () => {
      await prepareOwner(isFromDisk);
      await shell(save(SAVED));
      await flash(options.to ?? managerOf());
    },
    start: (phase) => (phase === 'prepare' ? writeFirmware('24.10.2') : Promise.resolve()),
    boot: () => boot(!isFromDisk),
    lastsMs: 60_000,
    feed: 1,
    job: async (daemon) => (await restoreOf(daemon))?.id ?? '',
    ...OWNED,
    look: (daemon) => look(daemon, isFromDisk),
  };
}

export const FIRMWARE: Readonly<Record<string, Kind>> = {
  firmware: firmware({}),
  'firmware-to-apk': firmware({ to: 'apk' }),
  'firmware-from-disk': firmware({ isFromDisk: true }),
};
