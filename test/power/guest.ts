// What runs in the virtual machine. PHASE says what of it: `prepare` a disk, `run` the job until
// somebody cuts the power, or `look` at what is left and do the job again.
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startDaemon, type TaskStatus, type TestDaemon } from '../device/daemon.ts';
import type { DaemonDevice } from '../device/daemon-process.ts';
import { createFeed } from '../device/feed.ts';
import type { FeedVersion } from '../device/packages/packages.ts';
import { SINGLE_TRY_WGET } from '../device/program-folder.ts';
import { createRoot } from '../device/root.ts';
import { parseStatusFile } from '../device/status-file.ts';
import type { Look, PackageFound } from './judge.ts';
import { KINDS } from './kinds.ts';
import { APP, findFiles, LIBRARY, powerPackages, SENT, versionText } from './packages.ts';

const DISK = '/mnt';
const ROOT = join(DISK, 'root');
const FEED_PORT = 7999;
/** After these the state of a job that was cut off must be known, and one done again be done. */
const INTERRUPTED_LIMIT_MS = 150_000;
const JOB_LIMIT_MS = 90_000;

const { PHASE = '', KIND = '', SLOW_SYNC_S = '0', OPKG } = process.env;
const kind = KINDS[KIND];

function say(message: object): void {
  console.log(`guest: ${JSON.stringify(message)}`);
}

async function createPrograms(): Promise<void> {
  const folder = join(DISK, 'bin');
  await mkdir(folder);
  const standIn = join(import.meta.dirname, '../device/bin/opkg');
  await symlink(OPKG ?? standIn, join(folder, 'opkg'));
  const rest = process.env.PATH ?? '';
  const programs = {
    ...SINGLE_TRY_WGET,
    // A disk that is slow to write everything down.
    sync: `PATH='${rest}'\nsleep "$SLOW_SYNC_S"\nsync "$@"\nresult=$?\nsleep "$SLOW_SYNC_S"\nexit $result`,
  };
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(folder, name), 0o755);
  }
}

const device: DaemonDevice = {
  root: ROOT,
  env: {
    ...process.env,
    PATH: `${DISK}/bin:${process.env.PATH ?? ''}`,
    IPKG_INSTROOT: ROOT,
    TMPDIR: join(ROOT, 'tmp'),
    SLOW_SYNC_S,
  },
};

async function prepare(): Promise<void> {
  await createRoot(ROOT, { feedUrl: `http://127.0.0.1:${FEED_PORT}/feed`, isSigned: false });
  await createPrograms();
  const feed = await createFeed(powerPackages(1), FEED_PORT);
  const daemon = await startDaemon(device);
  await finished(daemon, await daemon.submit('update'));
  for (const step of kind?.before ?? []) await finished(daemon, await step(daemon));
  await daemon.close();
  await feed.close();
  say({ prepared: true });
}

async function finished(daemon: TestDaemon, task: string): Promise<TaskStatus> {
  const status = await daemon.finished(task, JOB_LIMIT_MS);
  if (status.state !== 'done') throw new Error(`${task}: ${status.state} ${status.error ?? ''}`);
  return status;
}

async function run(): Promise<void> {
  await createFeed(powerPackages(kind?.feed ?? 1), FEED_PORT);
  const daemon = await startDaemon(device);
  await finished(daemon, await daemon.submit('update'));
  const task = (await kind?.job(daemon)) ?? '';
  say({ accepted: task });
  const { state, error } = await daemon.finished(task, JOB_LIMIT_MS);
  say({ ended: state, error });
  await delay(60_000);
}

async function look(): Promise<void> {
  const feed = await createFeed(powerPackages(kind?.feed ?? 1), FEED_PORT);
  const daemon = await startDaemon(device);
  const { TASK = '' } = process.env;
  const task = await statusAfterRepair(daemon, TASK);
  say({ found: await lookAt(daemon, task) });
  const update = await daemon.finished(await daemon.submit('update'), JOB_LIMIT_MS);
  const again = (await kind?.job(daemon)) ?? '';
  const result = again === '' ? update : await daemon.finished(again, JOB_LIMIT_MS);
  say({ again: await lookAt(daemon, result) });
  await daemon.close();
  await feed.close();
}

async function statusAfterRepair(
  daemon: TestDaemon,
  task: string,
): Promise<TaskStatus | undefined> {
  const deadline = performance.now() + INTERRUPTED_LIMIT_MS;
  for (;;) {
    const answer = await daemon.get('admin/system/tasks/status');
    const all = (await answer.json()) as Record<string, TaskStatus>;
    const isBusy = Object.values(all).some(({ running }) => running);
    if (!isBusy || performance.now() > deadline) return all[task];
    await delay(200);
  }
}

async function lookAt(daemon: TestDaemon, task: TaskStatus | undefined): Promise<Look> {
  const database = parseStatusFile(await readFile(join(ROOT, 'usr/lib/opkg/status'), 'utf8'));
  const packages: Record<string, PackageFound> = {};
  for (const name of [APP, LIBRARY, SENT]) {
    const version = ([1, 2] as const).find(
      (each: FeedVersion) => versionText(each) === database.get(name)?.version,
    );
    packages[name] = {
      version,
      files: await findFiles(ROOT, name, version ?? 1),
      isBroken: await isBroken(daemon, name),
    };
  }
  const { checks } = (await (await daemon.get('admin/system/doctor')).json()) as {
    checks: { id: string; state: string; message: string }[];
  };
  const doctor = checks.filter(({ state }) => state !== 'ok').map(({ message }) => message);
  return { state: task?.state, error: task?.error, packages, doctor };
}

async function isBroken(daemon: TestDaemon, name: string): Promise<boolean> {
  const query = `admin/store/available?kind=all&state=installed&q=${name}`;
  const { items = [] } = (await (await daemon.get(query)).json()) as {
    items?: { name: string; broken?: boolean }[];
  };
  return items.some((item) => item.name === name && item.broken === true);
}

const phases: Readonly<Record<string, () => Promise<void>>> = { prepare, run, look };
try {
  await phases[PHASE]?.();
} catch (error) {
  say({ failed: error instanceof Error ? error.message : String(error) });
}
process.exit();
