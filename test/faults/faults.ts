import type { Random } from '../support/random.ts';
import { PROGRAM_FAULTS, type ProgramFault } from './programs.ts';

/**
 * Faults that begin at the n-th change that the daemon makes to a file or start of a program: those
 * that its preloaded module makes, and those that are made from outside when it reports that point.
 */
const AT_A_POINT = [
  'kill',
  'kill',
  'term',
  'full',
  'read-only',
  'no watches',
  'clock',
  'descriptors',
  'damage',
  'power cut',
  'kill a process of the job',
  'stop',
  'program vanishes',
] as const;

export type FaultName = (typeof AT_A_POINT)[number] | ProgramFault;

/** What a file of the daemon's looks like when it comes up again. */
export const DAMAGES = [
  'a torn line at the end of the records',
  'a line that is no JSON among the records',
  'a record without its fields among the records',
  'a record that is nested deeply',
  'an exit file that is empty',
  'an exit file that holds no number',
  'the task logs are gone',
  'the run records are no JSON',
  'the copy of the status file is cut off',
] as const;
export type Damage = (typeof DAMAGES)[number];

export interface Fault {
  name: FaultName;
  /** Counted from when the fault is armed. */
  at: number;
  forMs: number;
  clockOffsetMs: number;
  damage: Damage;
  /** Of a program that misbehaves: which call of it. */
  call: number;
}

const HOUR_MS = 3_600_000;

/** One to four faults in a row. @param points how many changes such a job is known to make */
export function drawFaults(random: Random, points: number): Fault[] {
  const count = 1 + random.below(4);
  return Array.from({ length: count }, (_, index) => ({
    name: random.below(4) === 0 ? random.pick(PROGRAM_FAULTS) : random.pick(AT_A_POINT),
    // Those behind the first one find the job under way.
    at: 1 + random.below(index === 0 ? points : Math.ceil(points / 2)),
    forMs: 100 + random.below(900),
    clockOffsetMs: random.pick([-1, 1]) * random.pick([HOUR_MS, 24 * HOUR_MS, 500_000 * HOUR_MS]),
    damage: random.pick(DAMAGES),
    call: random.below(2),
  }));
}

export function isProgramFault(name: FaultName): name is ProgramFault {
  return (PROGRAM_FAULTS as readonly string[]).includes(name);
}

/** What the module in the daemon does for it at its point. */
export function armedName(name: FaultName): string {
  if (name === 'damage' || name === 'power cut') return 'kill';
  return name;
}

/** Faults that no job may fail of: the daemon comes back and goes on. */
export function isHarmless({ name }: Fault): boolean {
  return ['kill', 'term', 'no watches', 'clock'].includes(name);
}

/** Faults after which a task log may lack lines that were printed. */
export function mayLoseLog({ name, damage }: Fault): boolean {
  return (
    ['full', 'power cut'].includes(name) ||
    (name === 'damage' && damage === 'the task logs are gone')
  );
}

/** Faults that destroy what is known of uploads: a record that was written whole goes with it. */
export function losesUploads({ name, damage }: Fault): boolean {
  return name === 'damage' && damage === 'the run records are no JSON';
}
