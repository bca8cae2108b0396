import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { parseApkDatabase } from '../device/apk-device/apk-database.ts';
import { INDEX_NAME } from '../device/apk-device/apk-index.ts';
import { createApkRoot } from '../device/apk-device/apk-root.ts';
import { runCommand } from '../device/command.ts';
import { createClient, startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createFeedOf } from '../device/feed.ts';
import type { FeedVersion } from '../device/packages/packages.ts';
import { SINGLE_TRY_WGET } from '../device/program-folder.ts';
import { createRoot } from '../device/root.ts';
import { parseStatusFile } from '../device/status-file.ts';
import { DAEMON, DAEMON_LOG, DAEMON_PORT, START_DAEMON } from './daemon-package.ts';
import { DISK, FEED_PORT, ROOT } from './locations.ts';
import { versionText, type Manager } from './packages.ts';

const { REPOSITORY = '', FEEDS = '', SLOW_SYNC_S = '0', OPKG, APK } = process.env;
const FEED_URL = `http://127.0.0.1:${FEED_PORT}/feed`;
const START_LIMIT_MS = 60_000;

export const MANAGER: Manager = process.env['MANAGER'] === 'apk' ? 'apk' : 'opkg';

export const environment: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: `${DISK}/bin:${process.env.PATH ?? ''}`,
  IPKG_INSTROOT: ROOT,
  TMPDIR: join(ROOT, 'tmp'),
  SLOW_SYNC_S,
};

/** The daemon, as far as the jobs need it: it may be another one after a self-upgrade. */
export type PowerDaemon = ReturnType<typeof createClient> &
  Pick<TestDaemon, 'url' | 'base' | 'close'>;

/** The one of the system that is there now. */
export function managerOf(): Manager {
  return existsSync(join(ROOT, 'lib/apk/db/installed')) ? 'apk' : 'opkg';
}

export async function layOutRoot(manager: Manager): Promise<void> {
  if (manager === 'opkg') {
    await createRoot(ROOT, { feedUrl: FEED_URL, isSigned: false });
    return;
  }
  const publicKey = await readFile(join(FEEDS, manager, 'key.pem'), 'utf8');
  await createApkRoot(ROOT, { feedUrl: FEED_URL, indexName: INDEX_NAME, publicKey });
  await mkdir(join(ROOT, 'tmp/cache/apk'), { recursive: true });
}

/** Lays out the device on its empty disk. */
export async function layOutDevice(): Promise<void> {
  await layOutRoot(MANAGER);
  const folder = join(DISK, 'bin');
  await mkdir(folder);
  await symlink(OPKG ?? join(REPOSITORY, 'test/device/bin/opkg'), join(folder, 'opkg'));
  const rest = process.env.PATH ?? '';
  const apk = APK ?? join(REPOSITORY, 'test/device/bin-apk/apk');
  const programs = {
    ...SINGLE_TRY_WGET,
    apk: `exec '${apk}' --force-no-chroot --preserve-env "$@"`,
    logger: 'shift 2; echo "$*" >>/tmp/system-log',
    // What is waited for comes ten times as soon.
    sleep: `[ "$1" != 30 ] || set -- 3\nPATH='${rest}'\nexec sleep "$@"`,
    // A disk that is slow to write everything down.
    sync: `PATH='${rest}'\nsleep "$SLOW_SYNC_S"\nsync "$@"\nresult=$?\nsleep "$SLOW_SYNC_S"\nexit $result`,
  };
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(folder, name), 0o755);
  }
}

/** The same once more below another address, for a feed that is added. */
export async function serveFeed(version: FeedVersion): Promise<void> {
  const files = await readFiles(String(version));
  const others = [...files].map(([name, bytes]) => [`other/${name}`, bytes] as const);
  await createFeedOf(new Map([...files, ...others]), FEED_PORT);
}

/** The package file that is in no feed. */
export async function sentFile(): Promise<{ name: string; bytes: Buffer }> {
  const [[name, bytes] = ['', Buffer.alloc(0)]] = await readFiles('sent');
  return { name, bytes };
}

async function readFiles(folder: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const from = join(FEEDS, managerOf(), folder);
  for (const name of await readdir(from)) files.set(name, await readFile(join(from, name)));
  return files;
}

/** Sends that file. @returns the id of the task */
export async function upload(daemon: PowerDaemon): Promise<string> {
  const { name, bytes } = await sentFile();
  const form = new FormData();
  form.set('token', await daemon.token());
  form.set('file', new Blob([new Uint8Array(bytes)]), name);
  const url = `${daemon.url}${daemon.base}/admin/store/upload`;
  const answer: unknown = await (await fetch(url, { method: 'POST', body: form })).json();
  const { task_id: taskId } = answer as { task_id?: string };
  if (taskId === undefined) throw new Error(`no task: ${JSON.stringify(answer)}`);
  return taskId;
}

/** Starts the daemon of this repository. */
export function launchDaemon(set: readonly string[]): Promise<PowerDaemon> {
  const program = join(REPOSITORY, 'dist/start.cjs');
  return startDaemon({ root: ROOT, env: environment }, { set, program });
}

/** Starts the one that is installed, behind what goes on with its upgrade, as at a boot. */
export async function startInstalledDaemon(): Promise<PowerDaemon> {
  const watcher = join(ROOT, 'etc/depotd/self-upgrade/watch.sh');
  const resume = `[ ! -e '${watcher}' ] || setsid sh '${watcher}' boot </dev/null >/dev/null 2>&1 &\n`;
  await runCommand(['sh', '-c', `${resume}${START_DAEMON}`], { env: environment });
  return installedDaemon();
}

/** The one that is installed, as soon as it answers. */
export async function installedDaemon(): Promise<PowerDaemon> {
  const url = `http://127.0.0.1:${DAEMON_PORT}`;
  const base = '/cgi-bin/panel';
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await isHealthy(url))) {
    if (performance.now() > deadline) {
      const log = await readFile(DAEMON_LOG, 'utf8').catch(() => '');
      throw new Error(`the installed ${DAEMON} does not answer; its log: ${log.slice(-1000)}`);
    }
    await delay(200);
  }
  const close = async (): Promise<void> => {
    await runCommand(['sh', '-c', 'kill "$(cat /tmp/depotd.pid)"']);
  };
  return { ...createClient({ url: () => url, base }), url, base, close };
}

export function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Which of the feed's versions is on record. */
export async function versionOf(name: string): Promise<FeedVersion | undefined> {
  const manager = managerOf();
  const file = manager === 'opkg' ? 'usr/lib/opkg/status' : 'lib/apk/db/installed';
  const text = await readFile(join(ROOT, file), 'utf8');
  const database = manager === 'opkg' ? parseStatusFile(text) : parseApkDatabase(text);
  const version = database.get(name)?.version;
  return ([1, 2] as const).find((each: FeedVersion) => versionText(manager, each) === version);
}
