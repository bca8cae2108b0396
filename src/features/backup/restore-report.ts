import * as v from 'valibot';
import { DepotError } from '../../errors.ts';
import { slots } from '../../jobs/memory.ts';
import type { StepContext } from '../../jobs/plan.ts';
import type { PackageDatabase } from '../../package-management/database.ts';
import { EXPLAINED_BYTES } from '../../package-management/failure.ts';
import { isInstalled } from '../../package-management/half-installed.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import { reportLine, type ReportLine } from './comes-back.ts';
import { manifestSchema } from './manifest.ts';

/** What the steps of a restore leave for those behind them. */
export const restored = slots('the restore', {
  /** Where the set is unpacked. */
  folder: v.string(),
  set: manifestSchema,
  report: v.optional(v.array(reportLine), []),
  /** Of package files that no feed has. */
  files: v.optional(v.array(v.object({ name: v.string(), path: v.string() })), []),
});

/**
 * Says of each package of the set what became of it, in the task's status and its log.
 * @param isRepair the task ends otherwise anyhow
 * @throws DepotError command_failed if nothing of what was to come did
 */
export async function reportBack(
  { manager }: { manager: PackageManager },
  context: StepContext,
  isRepair = false,
): Promise<void> {
  const found = restored.find(context);
  if (found === undefined || found.report.length === 0) return;
  const database = await manager.installed();
  const output = await context.lastPrinted(EXPLAINED_BYTES).catch(() => '');
  const lines: ReportLine[] = [];
  for (const line of found.report) {
    lines.push(hasCome(database, line) ? line : await failed(manager, line, output));
  }
  context.reportResult({ report: lines });
  for (const line of lines) {
    if (line.state !== 'there') await context.note(textOf(line));
  }
  const meant = lines.filter(({ state }) => state !== 'there' && state !== 'not_offered');
  const [first] = meant;
  if (isRepair || first === undefined || meant.some(({ state }) => state !== 'failed')) return;
  throw new DepotError('command_failed', `cannot restore: ${first.message ?? ''}`, {
    explanation: { code: 'unknown', remedy: 'Read the end of the task log, then restore again.' },
  });
}

/** Whether a package that was to come is there; of any other the line is right already. */
function hasCome(database: PackageDatabase, { state, as, package: name }: ReportLine): boolean {
  return (state !== 'back' && state !== 'renamed') || isInstalled(database, as ?? name);
}

async function failed(
  { explain }: PackageManager,
  line: ReportLine,
  output: string,
): Promise<ReportLine> {
  const names = [line.as ?? line.package];
  const said = await explain({ output, names }).catch(() => undefined);
  return { ...line, state: 'failed', message: said?.reason ?? 'it is not installed' };
}

function textOf({ package: name, state, as, message }: ReportLine): string {
  const other = as === undefined ? '' : ` as ${as}`;
  return `${name}: ${SAID[state]}${other}${message === undefined ? '' : `: ${message}`}`;
}

const SAID = {
  there: 'is there',
  back: 'is back',
  renamed: 'is back',
  not_offered: 'is not offered',
  failed: 'could not be brought back',
} as const;
