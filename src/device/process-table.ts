import { readdir, readFile } from 'node:fs/promises';
import { systemCode } from '../errors.ts';

/**
 * Processes as /proc shows them (proc(5)). A process that is gone is told apart from a look that
 * failed: whoever takes the second for the first lets two commands run at once.
 */
export interface ProcessEntry {
  pid: number;
  parent: number;
  /** The process that began its session (setsid(2)); it may have ended. */
  session: number;
  startTicks: number;
  isZombie: boolean;
  name: string;
}

/**
 * @returns undefined if there is no such process
 * @throws an Error of Node if that cannot be found out, for want of descriptors say
 */
export async function readProcess(pid: number): Promise<ProcessEntry | undefined> {
  const stat = await readOf(pid, 'stat');
  return stat === undefined ? undefined : parseStat(pid, stat);
}

/** The command's name, in parentheses, may hold anything: fields are counted from its last one. */
function parseStat(pid: number, stat: string): ProcessEntry {
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  return {
    pid,
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTicks: Number(fields[19]),
    isZombie: fields[0] === 'Z' || fields[0] === 'X',
    name: stat.slice(stat.indexOf('(') + 1, end),
  };
}

/** Processes read at a time: each takes a descriptor. */
const AT_ONCE = 8;

/**
 * Every process alive, or only gone by a moment.
 * @throws an Error of Node if the table cannot be read as a whole
 */
export async function readProcesses(): Promise<ProcessEntry[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const entries: (ProcessEntry | undefined)[] = [];
  for (let index = 0; index < pids.length; index += AT_ONCE) {
    entries.push(...(await Promise.all(pids.slice(index, index + AT_ONCE).map(readProcess))));
  }
  return entries.filter((entry): entry is ProcessEntry => entry?.isZombie === false);
}

/**
 * A variable of the environment that the process was started with; undefined if it had none of that
 * name, is gone, or is somebody else's.
 * @throws an Error of Node if that cannot be found out
 */
export async function variableOf(pid: number, name: string): Promise<string | undefined> {
  const entries = ((await readOf(pid, 'environ')) ?? '').split('\0');
  return entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** What the kernel answers for a process that has ended, and for one that may not be looked at. */
const NOT_THERE: readonly (string | undefined)[] = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'];

async function readOf(pid: number, file: string): Promise<string | undefined> {
  return readFile(`/proc/${pid}/${file}`, 'latin1').catch((error: unknown) => {
    if (NOT_THERE.includes(systemCode(error))) return undefined;
    throw error;
  });
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
