// What runs in the virtual machine. PHASE says what of it: `prepare` a disk, `run` the job until
// somebody cuts the power, or `look` at what is left and do the job again.
import { setTimeout as delay } from 'node:timers/promises';

import { runCommand } from '../device/command.ts';
import type { TaskStatus } from '../device/daemon.ts';
import {
  launchDaemon,
  layOutDevice,
  serveFeed,
  startInstalledDaemon,
  versionOf,
  type PowerDaemon,
} from './device.ts';
import type { Look, PackageFound } from './judge.ts';
import { KINDS, type Step } from './kinds.ts';
import { ROOT } from './locations.ts';
import { APP, findFiles, LIBRARY } from './packages.ts';

/** After these the state of a job that was cut off must be known, and one done again be done. */
const INTERRUPTED_LIMIT_MS = 150_000;
const JOB_LIMIT_MS = 120_000;

const { PHASE = '', KIND = '', TASK = '', ANSWERED, LOG_DISK } = process.env;
const known = KINDS[KIND];
if (known === undefined) throw new Error(`no such kind: ${KIND}`);
const kind = known;

function say(message: object): void {
  console.log(`guest: ${JSON.stringify(message)}`);
}

async function start(): Promise<PowerDaemon> {
  await kind.start?.(PHASE);
  if (kind.boot !== undefined && PHASE !== 'prepare') return kind.boot();
  return kind.isInstalled === true && PHASE !== 'prepare'
    ? startInstalledDaemon()
    : launchDaemon(kind.set ?? []);
}

async function prepare(): Promise<void> {
  await layOutDevice();
  await serveFeed(1);
  const daemon = await start();
  for (const step of kind.before ?? []) {
    const { state, error } = await endOf(daemon, await step(daemon));
    if (state !== 'done') throw new Error(`${String(state)} ${error ?? ''}`);
  }
  await daemon.close();
  await kind.prepared?.();
  say({ prepared: true });
}

type End = Pick<Partial<TaskStatus>, 'state' | 'error'>;

/** What is done without a task is done when it is answered. */
async function endOf(daemon: PowerDaemon, task: string): Promise<End> {
  if (task === '') return { state: 'done' };
  const deadline = performance.now() + JOB_LIMIT_MS;
  for (;;) {
    // It may be on its way to another version of itself.
    const end = await daemon.finished(task, JOB_LIMIT_MS).catch((error: unknown) => error);
    if (!(end instanceof Error)) return end as End;
    if (performance.now() > deadline) throw end;
    await delay(300);
  }
}

async function run(): Promise<void> {
  if (kind.boot === undefined) await serveFeed(kind.feed);
  else say({ asked: true });
  const daemon = await start();
  say({ asked: true });
  const task = await kind.job(daemon);
  say({ accepted: task });
  await mark('accepted');
  const { state, error } = await endOf(daemon, task);
  await mark(`ended-${String(state)}`);
  say({ ended: state, error });
  await delay(600_000);
}

/** In the log of what is written, if there is one. */
async function mark(point: string): Promise<void> {
  if (LOG_DISK === undefined) return;
  const { stderr, code } = await runCommand(['dmsetup', 'message', 'written', '0', 'mark', point]);
  if (code !== 0) say({ failed: stderr });
}

async function look(): Promise<void> {
  if (kind.boot === undefined) await serveFeed(kind.feed);
  const daemon = await start();
  const status = await statusAfterRepair(daemon);
  say({ found: await lookAt(daemon, status, false) });
  const again = await endOf(daemon, await jobWhenReady(daemon, kind.job));
  say({ again: await lookAt(daemon, again, true) });
}

/** A self-upgrade may still change the daemon over. */
async function jobWhenReady(daemon: PowerDaemon, job: Step): Promise<string> {
  return job(daemon).catch(async () => {
    await delay(10_000);
    return job(daemon);
  });
}

async function statusAfterRepair(daemon: PowerDaemon): Promise<End> {
  const answered = ANSWERED === undefined ? {} : { state: ANSWERED as TaskStatus['state'] };
  if (kind.isLocked === true) return answered;
  const deadline = performance.now() + INTERRUPTED_LIMIT_MS;
  for (;;) {
    const answer = await daemon.get('admin/system/tasks/status').catch(() => undefined);
    const all = (await answer?.json()) as Record<string, TaskStatus> | undefined;
    const isBusy = all === undefined || Object.values(all).some(({ running }) => running);
    if (!isBusy || performance.now() > deadline) {
      const task = TASK === '' && kind.boot !== undefined ? await kind.job(daemon) : TASK;
      return all?.[task] ?? {};
    }
    await delay(300);
  }
}

async function lookAt(daemon: PowerDaemon, end: End, isAgain: boolean): Promise<Look> {
  const { state, error } = end;
  const problems = (await kind.look?.(daemon, { state, isAgain })) ?? [];
  const seen: Look = { state, error, packages: {}, doctor: [], problems };
  if (kind.isLocked === true) return seen;
  const names = new Set([
    ...Object.keys(kind.expected),
    ...(APP in kind.expected ? [LIBRARY] : []),
  ]);
  for (const name of names) seen.packages[name] = await findPackage(daemon, name);
  const { checks } = (await (await daemon.get('admin/system/doctor')).json()) as {
    checks: { id: string; state: string; message: string }[];
  };
  seen.doctor = checks
    .filter(({ state: judged }) => judged !== 'ok')
    .map(({ id, message }) => ({ id, message }));
  return seen;
}

async function findPackage(daemon: PowerDaemon, name: string): Promise<PackageFound> {
  const version = await versionOf(name);
  const query = `admin/store/available?kind=all&state=installed&q=${name}`;
  const { items = [] } = (await (await daemon.get(query)).json()) as {
    items?: { name: string; broken?: boolean }[];
  };
  const files = await findFiles(ROOT, name, version ?? 1);
  const damaged = files.damaged.filter((path) => kind.changed?.includes(path) !== true);
  return {
    version,
    files: { ...files, damaged },
    isBroken: items.some((item) => item.name === name && item.broken === true),
  };
}

const phases: Readonly<Record<string, () => Promise<void>>> = { prepare, run, look };
try {
  await phases[PHASE]?.();
} catch (error) {
  say({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}
process.exit();
