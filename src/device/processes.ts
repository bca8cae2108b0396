import { closeSync, openSync, readFileSync } from 'node:fs';
import { enterGroup, expectMove, killGroup, processesIn } from './cgroup/job-group.ts';
import { run, sendSignal, startDetached } from './exec.ts';
import type { Command } from './command.ts';
import HOLDER from './holder.sh';
import ON_TERMINAL from './on-terminal.sh';
import type { HeldProcess, Processes, ProcessMark, StartOptions } from './ports.ts';
import {
  descendantsOf,
  readProcess,
  readProcesses,
  variableOf,
  type ProcessEntry,
} from './process-table.ts';

/**
 * Runs a job's commands so that they need no daemon. Invariants:
 *  - the holder (a shell that runs holder.sh) is a session of its own; the daemon's end, however
 *    sudden, does not reach it;
 *  - the command starts only after the daemon said go, which it says once the holder is on record;
 *    a daemon that died before closed the pipe, and the holder writes `not-run` instead;
 *  - the exit file is written at once and in place, and its bytes are reserved before the command
 *    runs, so that a full disk loses no exit code; it names its holder, since a daemon that died
 *    before it put a holder on record leaves that one's file;
 *  - script(1) and the shell on its terminal are started ahead of go, and end after the code is
 *    there: neither is waited for;
 *  - arguments reach the shell as variables, never as text.
 */
export function createProcesses(): Processes {
  let terminal: boolean | undefined;
  const hasTerminal = async (environment: Record<string, string>): Promise<boolean> => {
    terminal ??= await canUseScript(environment);
    return terminal ?? false;
  };
  return {
    bootId,
    isAlive,
    expectStart: () => void expectMove(),
    start: async (options) => start(options, await hasTerminal(options.command.environment)),
    signal: async ({ jobId, mark }, signal) => {
      const members = await membersOf(jobId, mark);
      for (const pid of members) sendSignal(pid, signal);
      return members.length;
    },
    count: async ({ jobId, mark }) => (await membersOf(jobId, mark)).length,
    jobsUnderWay,
    killHolder: async (mark) => {
      if (await isAlive(mark)) sendSignal(mark.pid, 'SIGKILL');
      await killGroup(mark.cgroup);
    },
  };
}

/** The boot's id does not change while this process lives. */
let knownBootId: string | undefined;

/** Read at once: /proc is no disk, and each start waits for it. Rejects if it cannot be read. */
function bootId(): Promise<string> {
  return new Promise((resolve) => {
    knownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    resolve(knownBootId);
  });
}

/**
 * Others than util-linux's lack `-e`, which hands the exit code on.
 * @returns undefined without descriptors or terminals: script(1) ends as if it knew no such option
 */
async function canUseScript(environment: Record<string, string>): Promise<boolean | undefined> {
  const probe: Command = { argv: scriptOf('exit 7'), environment: withShell(environment) };
  const { exitCode, stdout, stderr } = await run(probe, { timeoutMs: 5000, maxBytes: 4096 });
  if (exitCode === 7) return true;
  const isOther = /ENOENT|(invalid|unrecognized|unknown) option|usage:/i.test(stdout + stderr);
  return isOther ? false : undefined;
}

async function start(
  { jobId, command, logFile, exitFile }: StartOptions,
  isOnTerminal: boolean,
): Promise<HeldProcess> {
  const { argv, environment } = isOnTerminal ? onTerminal(command) : command;
  const descriptor = openSync(logFile, 'a', 0o600);
  try {
    const holder: Command = {
      ...command,
      argv: ['/bin/sh', '-c', HOLDER, 'sh', isOnTerminal ? 'terminal' : '', exitFile, ...argv],
      environment: {
        ...environment,
        [JOB_VARIABLE]: jobId,
        DEPOTD_SYNC: (command.writesDown ?? []).join('\n'),
      },
    };
    const { pid, say, finishInput, ended } = await startDetached(holder, descriptor);
    const abandon = async (): Promise<void> => {
      finishInput('');
      await ended;
    };
    // A holder that cannot be named could not be found again, so it does not get its go.
    const group = await enterGroup(jobId, pid);
    const mark = await markOf(pid, { isOnTerminal, group }).catch(async (error: unknown) => {
      await abandon();
      throw error;
    });
    say('begin\n');
    return { mark, go: () => finishInput('go\n'), abandon, ended };
  } finally {
    closeSync(descriptor);
  }
}

async function markOf(
  pid: number,
  { isOnTerminal, group }: { isOnTerminal: boolean; group: string | undefined },
): Promise<ProcessMark> {
  const [entry, boot] = [readProcess(pid), await bootId()];
  // A process that was killed at once is marked as what it is: gone.
  const mark = { pid, startTicks: entry?.startTicks ?? 0, bootId: boot, isOnTerminal };
  return group === undefined ? mark : { ...mark, cgroup: group };
}

const JOB_VARIABLE = 'DEPOTD_JOB';

/** The shell text for script(1) has the arguments' number alone, and reads them from variables. */
function onTerminal(command: Command): Command {
  const names = command.argv.map((_, index) => `DEPOTD_ARG_${index}`);
  const words = names.map((name) => `"$${name}"`).join(' ');
  const text = `set -- ${words}; unset ${names.join(' ')}\n${ON_TERMINAL}`;
  const variables = Object.fromEntries(
    names.map((name, index) => [name, command.argv[index] ?? '']),
  );
  return {
    ...command,
    argv: scriptOf(text),
    environment: withShell({ ...command.environment, ...variables }),
  };
}

function scriptOf(text: string): Command['argv'] {
  return ['script', '-efqc', text, '/dev/null'];
}

function withShell(environment: Record<string, string>): Record<string, string> {
  return { ...environment, SHELL: '/bin/sh' };
}

async function isAlive(mark: ProcessMark): Promise<boolean> {
  const entry = readProcess(mark.pid);
  if (entry === undefined || entry.isZombie || entry.startTicks !== mark.startTicks) return false;
  return (await bootId()) === mark.bootId;
}

/**
 * A job's processes: in its control group; and, since it may have none, below the holder, of its
 * session, which outlive it, and those with the job's variable.
 */
async function membersOf(jobId: string, mark: ProcessMark): Promise<number[]> {
  const [inGroup, entries] = [await processesIn(mark.cgroup), readProcesses()];
  const isRelated = (await isNumberReused(mark, entries)) ? () => false : relationTo(mark, entries);
  const terminal = terminalOf(mark, entries);
  const members: number[] = [];
  for (const entry of entries) {
    const { pid } = entry;
    if (pid === mark.pid || pid === process.pid || terminal.has(pid)) continue;
    const isKnown = inGroup.has(pid) || isRelated(entry);
    if (isKnown || (await variableOf(pid, JOB_VARIABLE)) === jobId) members.push(pid);
  }
  return members;
}

async function jobsUnderWay(): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const { pid } of readProcesses()) {
    const id = await variableOf(pid, JOB_VARIABLE);
    if (id !== undefined) ids.add(id);
  }
  return ids;
}

/**
 * Whether the holder's number may stand for strangers by now. The kernel gives a number to nobody
 * else while a session has it, so that of a holder that went alone still names its session.
 */
async function isNumberReused(mark: ProcessMark, entries: readonly ProcessEntry[]) {
  const found = entries.find(({ pid }) => pid === mark.pid);
  if (found !== undefined && found.startTicks !== mark.startTicks) return true;
  return (await bootId()) !== mark.bootId;
}

function relationTo(
  mark: ProcessMark,
  entries: readonly ProcessEntry[],
): (entry: ProcessEntry) => boolean {
  const below = descendantsOf(mark.pid, entries);
  return ({ pid, session, startTicks }) =>
    below.has(pid) || (session === mark.pid && startTicks >= mark.startTicks);
}

/**
 * script(1), which answers a signal by killing the command without its clean-up, and the shell on
 * its terminal: they are left alone, and end with the command.
 */
function terminalOf(mark: ProcessMark, entries: readonly ProcessEntry[]): Set<number> {
  const found = new Set<number>();
  if (!mark.isOnTerminal) return found;
  // script(1) gets its name only when it is executed; until then the holder has no other child.
  const isScript = ({ session, parent, name }: ProcessEntry): boolean =>
    session === mark.pid && (name === 'script' || parent === mark.pid);
  const script = entries.find(isScript);
  if (script === undefined) return found;
  for (const { pid, parent } of entries) if (parent === script.pid) found.add(pid);
  return found.add(script.pid);
}
