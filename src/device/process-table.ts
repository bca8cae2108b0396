import { readdir, readFile } from 'node:fs/promises';

/** One process, from /proc/PID/stat (proc(5)). */
export interface ProcessEntry {
  pid: number;
  parent: number;
  startTicks: number;
  isZombie: boolean;
}

/** @returns undefined where there is no such process */
export async function readProcess(pid: number): Promise<ProcessEntry | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  return stat === undefined ? undefined : parseStat(pid, stat);
}

/**
 * The command's name, in parentheses, may hold anything: the fields are counted from its last one.
 */
function parseStat(pid: number, stat: string): ProcessEntry {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    parent: Number(fields[1]),
    startTicks: Number(fields[19]),
    isZombie: fields[0] === 'Z' || fields[0] === 'X',
  };
}

/** Every process alive, or only gone by a moment. */
export async function readProcesses(): Promise<ProcessEntry[]> {
  const names = await readdir('/proc');
  const entries = await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map((name) => readProcess(Number(name))),
  );
  return entries.filter((entry): entry is ProcessEntry => entry?.isZombie === false);
}

/**
 * Whether the process was started with this variable in its environment; false where that cannot be
 * read.
 */
export async function hasVariable(pid: number, variable: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return environment.split('\0').includes(variable);
}

/** The processes below one, without itself. */
export function descendantsOf(pid: number, entries: readonly ProcessEntry[]): Set<number> {
  const found = new Set<number>();
  const open = [pid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of entries) {
      if (entry.parent === next && !found.has(entry.pid)) {
        found.add(entry.pid);
        open.push(entry.pid);
      }
    }
  }
  return found;
}
