import * as v from 'valibot';
import { run } from '../../../device/exec.ts';
import type { RunLimits, RunResult } from '../../../device/command.ts';
import type { PackageChange } from '../../manager.ts';
import type { ApkCommands } from '../changing/commands.ts';

/** What apk would do with one package. */
export const plannedChange = v.object({
  action: v.picklist([
    'Installing',
    'Upgrading',
    'Downgrading',
    'Replacing',
    'Reinstalling',
    'Purging',
  ]),
  name: v.string(),
  /** The version that is there, if one is. */
  from: v.optional(v.string()),
  /** The version that is to be there, unless it goes. */
  to: v.optional(v.string()),
});
export type PlannedChange = v.InferOutput<typeof plannedChange>;

export type Simulation = ReturnType<typeof parseSimulation>;

const LIMITS = { timeoutMs: 120_000, maxBytes: 8 * 1024 ** 2 };

/** Asks apk for its plan: it takes no lock for that, fetches nothing and changes nothing. */
export async function simulate(
  commands: Pick<ApkCommands, 'simulate'>,
  change: PackageChange,
  limits: RunLimits = LIMITS,
): Promise<Simulation> {
  return parseSimulation(await run(commands.simulate(change), limits));
}

const VERBS = plannedChange.entries.action.options.join('|');
const CHANGE = new RegExp(
  String.raw`^\(\s*\d+/\d+\) (?:\[.*?\] )?(${VERBS}) ([^\s@]+)(?:@\S+)? \((\S+)(?: -> (\S+))?\)$`,
);

export function parseSimulation(result: Pick<RunResult, 'exitCode' | 'stdout' | 'stderr'>) {
  const { exitCode, stdout, stderr } = result;
  const lines = stdout.split(/\r?\n/);
  return {
    /**
     * Whether there is a plan. The exit code does not say: it counts each package that is marked
     * broken, in a plan, too.
     */
    isSolved: /^(?:OK:|ERRORS;|\d+ errors?;)/m.test(stdout),
    exitCode,
    changes: lines.flatMap(parseChange),
    /** Packages that are asked to go and stay, each with those that need it. */
    kept: parseKept(lines),
    /** What apk says is wrong, in one line; empty if nothing is. */
    fault: parseFault(stderr),
    /** What the simulation printed, as it stands. */
    stderr,
    /** Names that no feed has, each with what requires it, such as `world[NAME]`. */
    missing: parseMissing(stderr),
    /** Whether a feed's index is not there, as after each boot. */
    lacksIndex: /^WARNING: opening from cache /m.test(stderr),
  };
}

function parseChange(line: string): PlannedChange[] {
  const [, action, name, version, next] = CHANGE.exec(line) ?? [];
  if (action === undefined || name === undefined || version === undefined) return [];
  const change = { action: action as PlannedChange['action'], name };
  if (action === 'Purging') return [{ ...change, from: version }];
  if (action === 'Installing') return [{ ...change, to: version }];
  return [{ ...change, from: version, to: next ?? version }];
}

/** `World updated, but the following packages are not removed due to:` and a line for each. */
function parseKept(lines: readonly string[]) {
  const start = lines.findIndex((line) => line.startsWith('World updated, but the following'));
  const kept: { name: string; neededBy: string[] }[] = [];
  if (start < 0) return kept;
  const end = lines.findIndex((line, index) => index > start && !line.startsWith(' '));
  for (const line of lines.slice(start + 1, end < 0 ? undefined : end)) {
    const [, name, others = ''] = /^ {2}(\S+):\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) kept.push({ name, neededBy: wordsOf(others) });
    else kept.at(-1)?.neededBy.push(...wordsOf(line));
  }
  return kept;
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Errors, and what belongs to them: apk breaks them into indented lines. */
function parseFault(stderr: string): string {
  const lines = stderr.split(/\r?\n/).filter((line) => line !== '' && !/^WARNING/.test(line));
  const texts = lines.map((line) => line.trim().replace(/^ERROR: /, ''));
  return texts.join(' ').slice(0, 600);
}

function parseMissing(stderr: string) {
  return Array.from(
    stderr.matchAll(/^ {2}(\S+) \(no such package\):\s+required by: (.+)$/gm),
    ([, name = '', requiredBy = '']) => ({ name, requiredBy }),
  );
}
