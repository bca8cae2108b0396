import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect } from 'vitest';

import type { Command } from '../../src/device/command.ts';
import type { HeldProcess, Processes } from '../../src/device/ports.ts';
import { createProcesses } from '../../src/device/processes.ts';

/**
 * Where commands run: with script(1) on the PATH, or with nothing but what they and the holder
 * need.
 */
export const TERMINALS = ['on a terminal', 'where script(1) is missing'] as const;
export type Place = (typeof TERMINALS)[number];

const PROGRAMS = ['sh', 'sleep', 'setsid', 'cat', 'sync'];

export interface Run extends HeldProcess {
  job: { jobId: string; mark: HeldProcess['mark'] };
  exitFile: string;
  output: () => Promise<string>;
  /** The first line of the exit file, once the command and what holds it have ended. */
  exited: () => Promise<string>;
}

export interface Runs {
  readonly folder: string;
  readonly path: string;
  readonly processes: Processes;
  /** Starts a command, and leaves it on hold. */
  readonly hold: (
    argv: Command['argv'],
    environment?: Record<string, string>,
    writesDown?: readonly string[],
  ) => Promise<Run>;
  readonly run: (argv: Command['argv'], environment?: Record<string, string>) => Promise<Run>;
}

/**
 * For the tests of one `describe`: a folder that goes away with them, and commands that leave their
 * output there.
 */
export function prepareRuns(place: Place): Runs {
  const processes = createProcesses();
  let folder = '';
  let count = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'depotd-processes-'));
    await mkdir(join(folder, 'bin'));
    for (const name of PROGRAMS) await symlink(`/usr/bin/${name}`, join(folder, 'bin', name));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const pathOf = (): string => (place === 'on a terminal' ? '/usr/bin:/bin' : join(folder, 'bin'));
  const hold: Runs['hold'] = async (argv, environment = {}, writesDown = []) => {
    count += 1;
    // Processes are found by it in the whole machine's table, and another run of these tests may be
    // in there.
    const jobId = randomBytes(16).toString('hex');
    const files = {
      logFile: join(folder, `${count}.log`),
      exitFile: join(folder, `${count}.exit`),
    };
    const held = await processes.start({
      jobId,
      command: { argv, environment: { PATH: pathOf(), ...environment }, cwd: folder, writesDown },
      ...files,
    });
    return {
      ...held,
      ...files,
      job: { jobId, mark: held.mark },
      output: async () => (await readFile(files.logFile, 'utf8')).replaceAll('\r\n', '\n'),
      exited: async () => {
        const line = await firstLineOf(files.exitFile);
        await held.ended;
        return line;
      },
    };
  };
  return {
    get folder() {
      return folder;
    },
    get path() {
      return pathOf();
    },
    processes,
    hold,
    run: async (argv, environment) => {
      const held = await hold(argv, environment);
      held.go();
      return held;
    },
  };
}

/** Waits until the file is there. */
export async function firstLineOf(file: string): Promise<string> {
  const read = async (): Promise<string> => {
    const text = await readFile(file, 'utf8').catch(() => '');
    return text.split('\n')[0] ?? '';
  };
  // Dots keep its room until then.
  await expect.poll(read, { timeout: 20_000 }).toMatch(/^[^.]/);
  return read();
}
