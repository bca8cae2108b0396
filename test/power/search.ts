import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { SearchReport } from '../support/search-run.ts';
import { judgeCut, type Look } from './judge.ts';
import { KINDS, type Kind } from './kinds.ts';
import {
  bootMachine,
  copyDisk,
  createDisk,
  createDiskFolder,
  removeDisks,
  type FileSystem,
  type Machine,
} from './machine.ts';

export interface PowerOptions {
  seed: number;
  type: FileSystem;
  /** The kinds to draw from; all by default. */
  kinds?: readonly string[];
  /** The real opkg in place of the stand-in. */
  opkg?: string | undefined;
}

const BOOT_LIMIT_MS = 120_000;
const LOOK_LIMIT_MS = 400_000;
const RUNS_FOR_MS = 8000;
const AFTER_END_MS = 40_000;

/** Cuts the power at drawn moments until the report's bounds are reached. */
export async function searchPowerCuts(report: SearchReport, options: PowerOptions): Promise<void> {
  const folder = await createDiskFolder();
  const draw = createDraw(options.seed);
  const names = options.kinds ?? Object.keys(KINDS);
  try {
    for (let cut = 0; report.goesOn(); cut += 1) {
      const name = names[cut % names.length] ?? '';
      const kind = KINDS[name];
      if (kind === undefined) throw new Error(`cannot cut in ${name}: no such kind of job`);
      const drawn = {
        afterEnd: draw() < 0.4,
        share: draw(),
        slowSyncS: draw() < 0.3 ? Math.ceil(draw() * 4) : 0,
      };
      const result = await cutOnce(folder, { name, kind, ...drawn }, options);
      report.add(1, { name, ...drawn, ...result });
      if (result.problems.length > 0) report.finding({ name, ...drawn, ...result });
    }
  } finally {
    await removeDisks(folder);
  }
}

interface Cut {
  name: string;
  kind: Kind;
  /** Whether the power goes when the job has ended, or as soon as the time has passed. */
  afterEnd: boolean;
  /** Of the time in which it may go. */
  share: number;
  slowSyncS: number;
}

interface CutResult {
  answered?: string | undefined;
  afterMs?: number;
  state?: string | undefined;
  problems: readonly string[];
}

async function cutOnce(folder: string, cut: Cut, options: PowerOptions): Promise<CutResult> {
  const { type } = options;
  const environment = {
    KIND: cut.name,
    SLOW_SYNC_S: String(cut.slowSyncS),
    ...(options.opkg !== undefined && { OPKG: options.opkg }),
  };
  const base = join(folder, `${cut.name}.img`);
  if (!existsSync(base)) await prepareDisk(base, type, { ...environment, SLOW_SYNC_S: '0' });
  const disk = join(folder, 'cut.img');
  await copyDisk(base, disk);

  const first = bootMachine(disk, type, { ...environment, PHASE: 'run' });
  const { accepted } = await first.said('accepted', BOOT_LIMIT_MS);
  const acceptedAt = performance.now();
  if (cut.afterEnd) {
    await first.said('ended', BOOT_LIMIT_MS);
    await delay(cut.share * cut.share * AFTER_END_MS);
  } else {
    await delay(cut.share * RUNS_FOR_MS);
  }
  await first.cut();
  const answered = first.messages.find((message) => 'ended' in message)?.['ended'] as
    string | undefined;
  const afterMs = Math.round(performance.now() - acceptedAt);

  const second = bootMachine(disk, type, {
    ...environment,
    SLOW_SYNC_S: '0',
    PHASE: 'look',
    TASK: String(accepted),
  });
  try {
    const { found, again } = await lookOf(second);
    const problems = judgeCut({ answered, found, again }, cut.kind.expected);
    const details = problems.length > 0 && { error: found.error, doctor: found.doctor };
    return { answered, afterMs, state: found.state, ...details, problems };
  } catch (error) {
    return {
      answered,
      afterMs,
      problems: [error instanceof Error ? error.message : String(error)],
    };
  } finally {
    await second.cut();
  }
}

async function lookOf(machine: Machine): Promise<{ found: Look; again: Look }> {
  const { found } = await machine.said('found', LOOK_LIMIT_MS);
  const { again } = await machine.said('again', LOOK_LIMIT_MS);
  return { found: found as Look, again: again as Look };
}

async function prepareDisk(
  disk: string,
  type: FileSystem,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  await createDisk(disk, type);
  const machine = bootMachine(disk, type, { ...environment, PHASE: 'prepare' });
  await machine.said('prepared', BOOT_LIMIT_MS);
  await machine.ended(BOOT_LIMIT_MS);
}

/** Numbers from 0 to 1, the same for the same seed (a linear congruential generator). */
function createDraw(seed: number): () => number {
  let state = seed % 2147483647;
  return () => {
    state = (state * 48271 + 11) % 2147483647;
    return state / 2147483647;
  };
}
