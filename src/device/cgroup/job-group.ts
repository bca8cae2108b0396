import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../errors.ts';
import { readMounts } from '../disk/mounts.ts';

/**
 * A control group for each job, below the daemon's own (cgroups(7), version 2). It has all that the
 * job's command starts, whatever that does to its parent, session and environment. Invariants:
 *  - an empty group goes when another is made: what a script left running keeps its group;
 *  - where there is no such file system, or it may not be written, a job has no group.
 */
const PREFIX = 'depotd-task-';

/** @returns the group's folder; undefined if there is none to be had */
export async function enterGroup(jobId: string, pid: number): Promise<string | undefined> {
  try {
    const own = await ownGroup();
    if (own === undefined) return undefined;
    await sweep(own);
    const group = join(own, PREFIX + jobId);
    await enter(group, pid);
    return group;
  } catch {
    // The cgroup folder is not root's, read-only, or full: the job is found by its other marks.
    return undefined;
  }
}

/**
 * Moves the daemon to where it is: the kernel waits now for what a move waits for, and one that
 * comes soon behind goes through at once.
 */
export async function expectMove(): Promise<void> {
  const own = await ownGroup().catch(() => undefined);
  if (own !== undefined) await moveTo(own, process.pid).catch(() => undefined);
}

/** Another start may sweep a group away between the two calls. */
async function enter(group: string, pid: number, attempts = 3): Promise<void> {
  await mkdir(group, { recursive: true });
  await moveTo(group, pid).catch((error: unknown) => {
    if (attempts <= 1) throw error;
    return enter(group, pid, attempts - 1);
  });
}

/** A move into a group may wait for the kernel for some 10 ms. */
async function moveTo(group: string, pid: number): Promise<void> {
  await writeFile(join(group, PROCESSES), String(pid), { flag: 'r+' });
}

/** The processes in a group; none if it is gone. @throws an Error of Node if nobody can tell */
export async function processesIn(group: string | undefined): Promise<Set<number>> {
  if (group === undefined) return new Set();
  const text = await readFile(join(group, PROCESSES), 'latin1').catch((error: unknown) => {
    if (['ENOENT', 'ENODEV'].includes(systemCode(error) ?? '')) return '';
    throw error;
  });
  return new Set(text.split('\n').filter(Boolean).map(Number));
}

/** SIGKILL for all of a group at once: nothing is started meanwhile. Linux has it since 5.14. */
export async function killGroup(group: string | undefined): Promise<void> {
  if (group === undefined) return;
  await writeFile(join(group, 'cgroup.kill'), '1', { flag: 'r+' }).catch(() => undefined);
}

const PROCESSES = 'cgroup.procs';

/** The daemon's own group. One that a job's command started leaves the group of that job. */
async function ownGroup(): Promise<string | undefined> {
  const own = /^0::(\/.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8'))?.[1];
  const mount = (await readMounts()).find(({ type, root }) => type === 'cgroup2' && root === '/');
  if (own === undefined || own.startsWith('/..') || mount === undefined) return undefined;
  const group = join(mount.path, own);
  const outer = group.replace(new RegExp(`/${PREFIX}[^/]*$`), '');
  if (outer !== group) await moveTo(outer, process.pid);
  return outer;
}

async function sweep(own: string): Promise<void> {
  const names = (await readdir(own)).filter((name) => name.startsWith(PREFIX));
  // Groups that cannot be removed have something living in them.
  await Promise.all(names.map((name) => rmdir(join(own, name)).catch(() => undefined)));
}
