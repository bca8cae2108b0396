import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';

import { build } from 'esbuild';

/** What the machine's disk is formatted with. */
export type FileSystem = 'ext4' | 'f2fs';

const runFile = promisify(execFile);
const REPOSITORY = join(import.meta.dirname, '../..');
const DISK_BYTES = 96 * 1024 ** 2;
const MEMORY_MIB = 640;

/** What the guest printed: one JSON object a line behind this word. */
const PREFIX = 'guest: ';

export type Message = Readonly<Record<string, unknown>>;

/** A virtual machine that runs. Its power can be cut at any moment. */
export interface Machine {
  /** All that the guest has said so far, and the other lines of its console. */
  readonly messages: readonly Message[];
  readonly console: readonly string[];
  /**
   * Waits for a message that has the field.
   *
   * @throws an Error with the console's end when the machine ends, or the limit passes, without it
   */
  readonly said: (field: string, limitMs: number) => Promise<Message>;
  /** A copy of its disk as it would be if the power went now. */
  readonly copyDisk: (to: string) => Promise<void>;
  /** Ends all of its processes at once: what its page cache held is lost. */
  readonly cut: () => Promise<void>;
  /** Waits until it has switched itself off. */
  readonly ended: (limitMs: number) => Promise<void>;
}

/** On a processor whose registers the machine does not know the size of: registers.c. */
function environmentOfEmulator(): NodeJS.ProcessEnv {
  if (!/\bamx_tile\b/.test(readFileSync('/proc/cpuinfo', 'latin1'))) return process.env;
  const library = join(REPOSITORY, 'node_modules/.cache/registers.so');
  if (!existsSync(library)) {
    const source = join(import.meta.dirname, 'registers.c');
    execFileSync('cc', ['-shared', '-fPIC', '-nostdlib', '-o', library, source]);
  }
  return { ...process.env, LD_PRELOAD: library };
}

/** An empty disk of that type. */
export async function createDisk(path: string, type: FileSystem): Promise<void> {
  await createBlankDisk(path, DISK_BYTES);
  const words = type === 'ext4' ? ['mkfs.ext4', '-q', '-F', path] : ['mkfs.f2fs', '-q', path];
  const { status, stderr } = spawnSync(words[0] ?? '', words.slice(1), { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot make a disk with ${type}: ${stderr}`);
}

export async function createBlankDisk(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w');
  await file.truncate(bytes);
  await file.close();
}

/** The same bytes as another disk, as a file of its own. */
export async function copyDisk(from: string, to: string): Promise<void> {
  await runFile('cp', ['--reflink=auto', '--sparse=always', from, to]);
}

/** The guest sees it at the same path, which is why it is not in /tmp. */
export async function createDiskFolder(): Promise<string> {
  const cache = join(REPOSITORY, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  return mkdtemp(join(cache, 'power-'));
}

/** The guest's own program as one file: the machine is slow. */
export async function bundleGuest(folder: string): Promise<string> {
  const outfile = join(folder, 'guest.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'guest.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  return outfile;
}

/**
 * @param environment what the guest's programs find in their environment: no blanks in it;
 *   LOG_DISK is the file of a second disk, which gets the log of what is written
 */
export function bootMachine(
  disk: string,
  type: FileSystem,
  environment: Readonly<Record<string, string>>,
): Machine {
  const variables = { REPOSITORY, TYPE: type, ...environment };
  const { LOG_DISK } = environment;
  const words = [
    `mem=${MEMORY_MIB}M`,
    `ubd0=${disk}`,
    ...(LOG_DISK === undefined ? [] : [`ubd1=${LOG_DISK}`]),
    'rootfstype=hostfs',
    'rootflags=/',
    'ro',
    `init=${join(import.meta.dirname, 'init.sh')}`,
    'con=null',
    'con0=null,fd:1',
    'quiet',
    'panic=-1',
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
  ];
  // A group of its own: the emulator is one process for each of the guest's.
  const child = spawn('linux.uml', words, {
    detached: true,
    env: environmentOfEmulator(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const messages: Message[] = [];
  const lines: string[] = [];
  let hasEnded = false;
  const end = new Promise<void>((resolve) => {
    child.on('error', (error) => lines.push(error.message));
    child.on('close', () => {
      hasEnded = true;
      resolve();
    });
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const at = line.indexOf(PREFIX);
    if (at === -1) lines.push(line);
    else messages.push(JSON.parse(line.slice(at + PREFIX.length)) as Message);
  });
  const complaint = (what: string): Error =>
    new Error(`${what}: ${JSON.stringify(messages.at(-1))} ${lines.slice(-12).join(' | ')}`);
  const cut = async (): Promise<void> => {
    if (child.pid !== undefined && !hasEnded) process.kill(-child.pid, 'SIGKILL');
    await end;
  };
  return {
    messages,
    console: lines,
    copyDisk: async (to) => {
      const pids = await kernelProcesses(child.pid ?? 0);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      await copyDisk(disk, to).finally(() => {
        for (const pid of pids) process.kill(pid, 'SIGCONT');
      });
    },
    said: async (field, limitMs) => {
      const deadline = performance.now() + limitMs;
      for (;;) {
        const found = messages.find((message) => field in message);
        if (found !== undefined) return found;
        if (hasEnded) throw complaint(`the machine ended without saying "${field}"`);
        if (performance.now() > deadline) {
          await cut();
          throw complaint(`the machine did not say "${field}" within ${limitMs} ms`);
        }
        await delay(20);
      }
    },
    cut,
    ended: async (limitMs) => {
      const timer = setTimeout(() => void cut(), limitMs);
      await end;
      clearTimeout(timer);
    },
  };
}

/** Of the emulator those that are not the guest's processes, which it traces. */
async function kernelProcesses(group: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const own = [];
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
    const [, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(processGroup) !== group) continue;
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    if (/^TracerPid:\t0$/m.test(status)) own.push(Number(pid));
  }
  return own;
}

export async function removeDisks(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
