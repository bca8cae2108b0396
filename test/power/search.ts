import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { reasonOf } from '../../src/errors.ts';
import type { SearchReport } from '../support/search-run.ts';
import { createCuts, type Cut, type Draw } from './cuts.ts';
import { judgeCut, type Look } from './judge.ts';
import { KINDS, type Kind } from './kinds.ts';
import {
  bootMachine,
  bundleGuest,
  copyDisk,
  createBlankDisk,
  createDisk,
  createDiskFolder,
  removeDisks,
  type FileSystem,
  type Machine,
} from './machine.ts';
import { writeFeeds, type Manager } from './packages.ts';
import { composeDisk, readWriteLog } from './write-log.ts';

export interface PowerOptions {
  seed: number;
  type: FileSystem;
  manager: Manager;
  /** The kinds to draw from; all by default. */
  kinds?: readonly string[];
  /** How often the power is cut in one run of a job. */
  cuts: number;
  /** Whether the disk loses and reorders what no flush has secured. */
  isReordering?: boolean;
}

const BOOT_LIMIT_MS = 240_000;
const LOOK_LIMIT_MS = 600_000;
const LOG_BYTES = 512 * 1024 ** 2;

/** How long a job of this kind took, as far as it is known. */
type Durations = Map<string, number>;

/** Cuts the power at drawn moments until the report's bounds are reached. */
export async function searchPowerCuts(report: SearchReport, options: PowerOptions): Promise<void> {
  const folder = await createDiskFolder();
  const draw = createDraw(options.seed);
  const names = options.kinds ?? Object.keys(KINDS);
  const durations: Durations = new Map();
  try {
    const environment = {
      FEEDS: join(folder, 'feeds'),
      GUEST: await bundleGuest(folder),
      MANAGER: options.manager,
      ...givenPrograms(),
    };
    // A firmware upgrade may bring the other one.
    for (const manager of ['opkg', 'apk'] as const) {
      await writeFeeds(join(environment.FEEDS, manager), manager);
    }
    for (let count = 0; report.goesOn(); count += 1) {
      const name = names[count % names.length] ?? '';
      const kind = KINDS[name];
      if (kind === undefined) throw new Error(`cannot cut in ${name}: no such kind of job`);
      const work = { folder, environment: { ...environment, KIND: name }, type: options.type };
      const run = { report, draw, durations, work, name, kind };
      await (options.isReordering === true ? cutInLog : cutInRun)(run, options.cuts);
    }
  } finally {
    await removeDisks(folder);
  }
}

/** Of the real package managers, if they are named. */
function givenPrograms(): Record<string, string> {
  return Object.fromEntries(
    ['OPKG', 'APK'].flatMap((name) => {
      const path = process.env[name];
      return path === undefined ? [] : [[name, path] as const];
    }),
  );
}

interface Work {
  folder: string;
  environment: Readonly<Record<string, string>>;
  type: FileSystem;
}

interface Run {
  report: SearchReport;
  draw: Draw;
  durations: Durations;
  work: Work;
  name: string;
  kind: Kind;
}

/** One disk is looked at while the machine goes on to the next moment. */
async function cutInRun(run: Run, count: number): Promise<void> {
  const { report, draw, durations, work, name, kind } = run;
  const slowSyncS = draw() < 0.3 ? Math.ceil(draw() * 4) : 0;
  const cuts = createCuts(draw, count, durations.get(name) ?? kind.lastsMs);
  let looks = Promise.resolve();
  const look = async ({ disk, ...cut }: CutDisk): Promise<void> => {
    if (!report.goesOn()) return;
    // It boots again, and the power goes again, before it may come to its end.
    const boots = Array.from({ length: kind.boot === undefined ? 0 : Math.floor(draw() * 3) }, () =>
      Math.round(draw() * (kind.lastsMs ?? 0)),
    );
    for (const ms of boots) await cutBoot(work, disk, ms);
    const result = await lookAfter(work, kind, { ...cut, disk });
    const fields = { name, type: work.type, slowSyncS, ...cut, boots, ...result };
    report.add(1 + boots.length, fields);
    if (result.problems.length > 0) report.finding(fields);
  };
  const onCut = (cut: CutDisk): void => void (looks = looks.then(() => look(cut)));
  await runAndCut(run, cuts, { slowSyncS, onCut }).catch((error: unknown) =>
    report.finding({ name, slowSyncS, problems: [reasonOf(error)] }),
  );
  await looks;
}

async function cutBoot({ environment, type }: Work, disk: string, ms: number): Promise<void> {
  const machine = bootMachine(disk, type, { ...environment, PHASE: 'run' });
  try {
    await machine.said('asked', BOOT_LIMIT_MS);
    await delay(ms);
  } finally {
    await machine.cut();
  }
}

/** Longer than ext4 and f2fs leave anything unwritten. */
const UNTIL_ALL_IS_WRITTEN_MS = 12_000;

/** One run with a log of all that is written; each cut is made of a point in it. */
async function cutInLog(run: Run, count: number): Promise<void> {
  const { report, draw, work, name, kind } = run;
  const { folder, type, environment } = work;
  const base = join(folder, `${name}.img`);
  const [disk, logDisk] = [join(folder, 'run.img'), join(folder, 'log.img')];
  const variables = { ...environment, SLOW_SYNC_S: '0', PHASE: 'run', LOG_DISK: logDisk };
  try {
    if (!existsSync(base)) await prepareDisk(work, base);
    await copyDisk(base, disk);
    await createBlankDisk(logDisk, LOG_BYTES);
    const machine = bootMachine(disk, type, variables);
    try {
      await machine.said('ended', BOOT_LIMIT_MS);
      await delay(UNTIL_ALL_IS_WRITTEN_MS);
    } finally {
      await machine.cut();
    }
    const task = textOf(machine, 'accepted');
    const log = await readWriteLog(logDisk);
    for (let index = 0; index < count && report.goesOn(); index += 1) {
      const { marks, ...point } = await composeDisk(log, { base, disk, draw });
      const isAccepted = marks.includes('accepted');
      const answered = marks.find((mark) => mark.startsWith('ended-'))?.slice('ended-'.length);
      const known = { ...(isAccepted && { task }), answered };
      const result = await lookAfter(work, kind, { task: undefined, ...known, disk });
      const fields = { name, type, ...known, ...point, ...result };
      report.add(1, fields);
      if (result.problems.length > 0) report.finding(fields);
    }
  } catch (error) {
    report.finding({ name, problems: [reasonOf(error)] });
  }
}

/** What was known when the power went. */
interface CutDisk extends Cut {
  disk: string;
  task: string | undefined;
  answered: string | undefined;
  afterMs: number;
}

async function runAndCut(
  { work, durations, name }: Run,
  cuts: readonly Cut[],
  { slowSyncS, onCut }: { slowSyncS: number; onCut: (cut: CutDisk) => void },
): Promise<void> {
  const { folder, type, environment } = work;
  const base = join(folder, `${name}.img`);
  if (!existsSync(base)) await prepareDisk(work, base);
  const disk = join(folder, 'run.img');
  await copyDisk(base, disk);
  const variables = { ...environment, SLOW_SYNC_S: String(slowSyncS), PHASE: 'run' };
  const machine = bootMachine(disk, type, variables);
  try {
    await machine.said('asked', BOOT_LIMIT_MS);
    const askedAt = performance.now();
    for (const [index, cut] of cuts.entries()) {
      if (cut.when === 'after') {
        await machine.said('ended', BOOT_LIMIT_MS);
        if (!durations.has(name)) durations.set(name, performance.now() - askedAt);
        await delay(cut.ms);
      } else {
        await delay(Math.max(0, askedAt + cut.ms - performance.now()));
      }
      const copy = join(folder, `cut-${index}.img`);
      const known = { task: textOf(machine, 'accepted'), answered: textOf(machine, 'ended') };
      const afterMs = Math.round(performance.now() - askedAt);
      await machine.copyDisk(copy);
      onCut({ ...cut, ...known, afterMs, disk: copy });
    }
  } finally {
    await machine.cut();
  }
}

function textOf({ messages }: Machine, field: string): string | undefined {
  const value = messages.find((message) => field in message)?.[field];
  return typeof value === 'string' ? value : undefined;
}

interface CutResult {
  state?: string | undefined;
  again?: string | undefined;
  problems: readonly string[];
}

async function lookAfter(
  { environment, type }: Work,
  kind: Kind,
  cut: Pick<CutDisk, 'disk' | 'task' | 'answered'>,
): Promise<CutResult> {
  const { disk, task, answered } = cut;
  const machine = bootMachine(disk, type, {
    ...environment,
    PHASE: 'look',
    TASK: task ?? '',
    ...(answered !== undefined && { ANSWERED: answered }),
  });
  try {
    const found = (await machine.said('found', LOOK_LIMIT_MS))['found'] as Look;
    const again = (await machine.said('again', LOOK_LIMIT_MS))['again'] as Look;
    const isAccepted = task !== undefined && task !== '';
    const problems = judgeCut({ isAccepted, answered, found, again }, kind.expected);
    const details = problems.length > 0 && { error: found.error, doctor: found.doctor };
    return { state: found.state, again: again.state, ...details, problems };
  } catch (error) {
    return { problems: [reasonOf(error)] };
  } finally {
    await machine.cut();
  }
}

async function prepareDisk({ environment, type }: Work, disk: string): Promise<void> {
  await createDisk(disk, type);
  const machine = bootMachine(disk, type, { ...environment, PHASE: 'prepare' });
  await machine.said('prepared', BOOT_LIMIT_MS);
  await machine.ended(BOOT_LIMIT_MS);
}

/** Numbers from 0 to 1, the same for the same seed (a linear congruential generator). */
function createDraw(seed: number): Draw {
  let state = (seed % 2147483646) + 1;
  const draw = (): number => {
    state = (state * 48271 + 11) % 2147483647;
    return state / 2147483647;
  };
  // The first ones of small seeds are alike.
  for (let index = 0; index < 4; index += 1) draw();
  return draw;
}
