import { constants } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { readProcesses, variableOf, type ProcessEntry } from '../../../device/process-table.ts';
import type { StepContext } from '../../../jobs/plan.ts';

/** How often processes are looked at, and how long apk may wait for a script that has ended. */
const LOOK_MS = 2000;
const PATIENCE_MS = 10_000;
/** O_ACCMODE of open(2). */
const ACCESS_MODE = 0o3;
/** Time from asking a process to end to ending it. */
const GRACE_MS = 5000;

/**
 * apk reads a script's output to its end, and that comes only when the last process that holds it
 * is gone: one that a script leaves in the background keeps apk waiting for ever. It is ended; a
 * service belongs to procd, which starts it with an output of its own.
 * @returns how to stop looking
 */
export function endHolders({ job, note }: Pick<StepContext, 'job' | 'note'>): () => void {
  /** When each ended script was first seen, and each holder asked to end, by process id. */
  const [ended, asked] = [new Map<number, number>(), new Map<number, number>()];
  const end = async ({ pid, name }: ProcessEntry, now: number): Promise<void> => {
    const since = asked.get(pid);
    if (since === undefined) {
      asked.set(pid, now);
      await note(`${name} (process ${pid}), left by a script, keeps apk waiting: it is ended`);
    }
    try {
      process.kill(pid, since !== undefined && now - since > GRACE_MS ? 'SIGKILL' : 'SIGTERM');
    } catch {
      // The process has ended by itself.
    }
  };
  const look = async (): Promise<void> => {
    const entries = readProcesses({ areZombies: true });
    const now = performance.now();
    for (const script of entries.filter(({ isZombie }) => isZombie)) {
      const apk = entries.find(({ pid, isZombie }) => pid === script.parent && !isZombie);
      if (apk === undefined || !(await isApk(apk.pid))) continue;
      if ((await variableOf(apk.pid, 'DEPOTD_JOB')) !== job.id) continue;
      const since = ended.get(script.pid) ?? now;
      ended.set(script.pid, since);
      if (now - since < PATIENCE_MS) continue;
      for (const holder of await holdersOf(apk, entries)) await end(holder, now);
    }
  };
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look()
      .catch(() => undefined)
      .finally(() => (isLooking = false));
  }, LOOK_MS);
  return () => clearInterval(timer);
}

/** Whether a process is apk, by its command line: an interpreter may stand before its path. */
async function isApk(pid: number): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
  return line
    .split('\0')
    .slice(0, 3)
    .some((word) => word.split('/').at(-1) === 'apk');
}

/**
 * The processes that a script of this apk left (it gives scripts a variable with the package's
 * name) and that have the other end of a pipe that it reads.
 */
async function holdersOf(apk: ProcessEntry, entries: readonly ProcessEntry[]) {
  const pipes = new Set(await pipesOf(apk.pid, 'read'));
  const holders: ProcessEntry[] = [];
  for (const entry of entries) {
    const isLater = entry.startTicks >= apk.startTicks && entry.pid !== apk.pid;
    if (!isLater || entry.isZombie) continue;
    if ((await variableOf(entry.pid, 'APK_PACKAGE')) === undefined) continue;
    if ((await pipesOf(entry.pid, 'written')).some((pipe) => pipes.has(pipe))) holders.push(entry);
  }
  return holders;
}

/** The pipes of a process, by what it does with them (fdinfo in proc(5): octal open flags). */
async function pipesOf(pid: number, use: 'read' | 'written'): Promise<string[]> {
  const pipes: string[] = [];
  for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
    if (!target.startsWith('pipe:')) continue;
    const info = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, 'latin1').catch(() => '');
    const flags = Number.parseInt(/^flags:\s+([0-7]+)$/m.exec(info)?.[1] ?? '', 8);
    const isUsed = (flags & ACCESS_MODE) === (use === 'read' ? 0 : constants.O_WRONLY);
    if (isUsed) pipes.push(target);
  }
  return pipes;
}
