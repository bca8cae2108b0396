import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { systemCode } from '../errors.ts';

/**
 * Processes as /proc shows them (proc(5)). A process that is gone is told apart from a look that
 * failed: whoever takes the second for the first lets two commands run at once.
 */
export type ProcessEntry = ReturnType<typeof parseStat>;

/** undefined if there is none. @throws an Error of Node for want of descriptors, say */
export function readProcess(pid: number): ProcessEntry | undefined {
  try {
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch (error) {
    throwUnlessGone(error);
    return undefined;
  }
}

/** The command's name, in parentheses, may hold anything: fields are counted from its last one. */
function parseStat(pid: number, stat: string) {
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  return {
    pid,
    parent: Number(fields[1]),
    /** The process that began its session (setsid(2)); it may have ended. */
    session: Number(fields[3]),
    startTicks: Number(fields[19]),
    isZombie: fields[0] === 'Z' || fields[0] === 'X',
    name: stat.slice(stat.indexOf('(') + 1, end),
  };
}

/**
 * @param areZombies whether those that have ended and whose end nobody has asked for count
 * @throws an Error of Node if the table cannot be read as a whole
 */
export function readProcesses({ areZombies = false } = {}): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readProcess(Number(pid)) ?? [])
    .filter(({ isZombie }) => areZombies || !isZombie);
}

/**
 * undefined if the process started without it, is gone, or is somebody else's.
 * @throws an Error of Node if that cannot be found out
 */
export async function variableOf(pid: number, name: string): Promise<string | undefined> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(throwUnlessGone);
  const entries = (environment ?? '').split('\0');
  return entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** What the kernel answers for a process that has ended, and for one that may not be looked at. */
const NOT_THERE: readonly (string | undefined)[] = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'];

function throwUnlessGone(error: unknown): undefined {
  if (!NOT_THERE.includes(systemCode(error))) throw error;
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

const LEAST_PAUSE_MS = 100;
const MOST_PAUSE_MS = 500;

/**
 * Before the next look for something that is to end, or to come, for so long. Each look reads of
 * all processes: the longer it takes, the less often it is looked.
 */
export function pauseBetweenLooks(passedMs: number): number {
  return Math.min(LEAST_PAUSE_MS + passedMs / 10, MOST_PAUSE_MS);
}
