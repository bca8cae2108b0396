import { DepotError } from '../../../errors.ts';
import type { PackageDatabase } from '../../database.ts';
import type { PackageChange } from '../../manager.ts';
import { createProblem, PROBLEM_CODES, type Problem, type ProblemCode } from '../../problem.ts';
import { checkPlan } from './plan-check.ts';
import type { Simulation } from './simulation.ts';

interface Wanted {
  change: PackageChange;
  database: PackageDatabase;
  image: ReadonlySet<string>;
}

/** Why a job would refuse a plan, in its own words, with what a caller may branch on. */
export function planProblems(plan: Simulation, wanted: Wanted): Problem[] {
  try {
    const { file } = wanted.change;
    checkPlan(plan, { ...wanted, ...(file !== undefined && { own: file.name }) });
    return [];
  } catch (error) {
    if (!(error instanceof DepotError)) throw error;
    const cause = plan.isSolved ? refusedBy(plan, wanted) : unsolvedBy(plan, wanted);
    const problem = createProblem(cause.code, error.message, cause.name);
    const { code, remedy } = error.explanation ?? problem;
    if (!isProblemCode(code) || code === 'unknown') return [problem];
    // Of several faults another one may have been found first: then its package is not this one's.
    return [
      code === cause.code ? { ...problem, remedy } : { code, message: error.message, remedy },
    ];
  }
}

function isProblemCode(code: string): code is ProblemCode {
  return (PROBLEM_CODES as readonly string[]).includes(code);
}

interface Cause {
  code: ProblemCode;
  name?: string | undefined;
}

/** A plan that apk has, and that does what nobody asked for. */
function refusedBy({ changes }: Simulation, { change, database }: Wanted): Cause {
  const downgraded = changes.find(({ action }) => action === 'Downgrading');
  if (downgraded !== undefined) return { code: 'dependency_conflict', name: downgraded.name };
  if (change.verb === 'remove') {
    const essential = change.names.find((name) => database.get(name)?.isEssential);
    if (essential !== undefined) return { code: 'essential', name: essential };
    const purged = changes.filter(({ action }) => action === 'Purging').map(({ name }) => name);
    const staying = change.names.find((name) => database.has(name) && !purged.includes(name));
    return staying === undefined ? { code: 'not_allowed' } : { code: 'needed_by', name: staying };
  }
  const isSwap = change.verb === 'install' && changes.some(({ action }) => action === 'Installing');
  const [asked] = change.names;
  return { code: isSwap ? 'dependency_conflict' : 'not_allowed', name: asked };
}

/** What apk prints if it finds no plan; patterns in the order in which they decide. */
const FAULTS: readonly [RegExp, ProblemCode][] = [
  [/(\S+): (?:error: )?uninstallable arch/, 'wrong_architecture'],
  [/breaks: (kmod-[^[\s]+)\[kernel\b/, 'kernel_mismatch'],
  [/breaks: ([^[\s]+)\[!/, 'dependency_conflict'],
  [/(\S+): conflicts:/, 'dependency_conflict'],
  [/breaks: (?!world\[)([^[\s]+)\[/, 'dependency_missing'],
  [/breaks: world\[([^\]=<>~]+)/, 'dependency_conflict'],
  [/(\S+) \(virtual\): note: please select/, 'dependency_missing'],
];

function unsolvedBy({ missing, fault, exitCode }: Simulation, { change }: Wanted): Cause {
  const [first] = missing;
  if (first !== undefined) {
    const [, user = ''] = /^([^[\s]+)\[/.exec(first.requiredBy) ?? [];
    if (user === 'world') return { code: 'not_found', name: first.name };
    const isKernel = first.name === 'kernel' && user.startsWith('kmod-');
    return { code: isKernel ? 'kernel_mismatch' : 'dependency_missing', name: nameOf(user) };
  }
  for (const [pattern, code] of FAULTS) {
    const [, subject] = pattern.exec(fault) ?? [];
    if (subject !== undefined) return { code, name: nameOf(subject) };
  }
  // It did not answer in time, or said nothing that is known.
  return { code: 'unknown', name: exitCode === undefined ? undefined : change.names[0] };
}

/** `NAME-VERSION` as apk prints it: a version begins with a digit (apk-package(5)). */
function nameOf(text: string): string {
  return /^(.+)-\d[^-]*(?:-r\d+)?$/.exec(text)?.[1] ?? text;
}
