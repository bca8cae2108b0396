import * as v from 'valibot';
import { isInstalled, type PackageDatabase } from '../../package-management/database.ts';
import { failureError, EXPLAINED_BYTES } from '../../package-management/failure.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import type { ProblemCode } from '../../package-management/problem.ts';
import { reportLine, type ReportLine } from '../../package-management/transaction/report-line.ts';
import { type Manifest, type PackageFile, manifestSchema } from './manifest.ts';
import { DepotError } from '../../errors.ts';
import { slots } from '../../jobs/memory.ts';
import type { StepContext } from '../../jobs/plan.ts';

/** What a restore does with the packages of a set. */
interface ComesBack {
  report: ReportLine[];
  /** Names of packages to be installed from feeds. */
  names: string[];
  /** No feed has them, and the set has. */
  files: PackageFile[];
}

/**
 * What of a set is there, comes from feeds, comes from the set itself or is not to be had. From
 * opkg to apk names change: libraries carry another number, and some packages have a successor.
 * @throws DepotError if nothing at all can be installed, such as for want of space
 */
export async function comesBack(manager: PackageManager, set: Manifest): Promise<ComesBack> {
  const database = await manager.installed();
  const missing = set.packages.filter(({ name }) => !isInstalled(database, name));
  const absent = missing.map(({ name }) => name);
  const others = await successors(manager, absent);
  const isOfManager = set.package_manager === manager.name;
  const found: ComesBack = { report: [], names: [], files: [] };
  for (const { name, is_upload: isUpload } of set.packages) {
    const other = others.get(name);
    const named = other !== undefined && other !== name ? { as: other } : {};
    if (!missing.some((each) => each.name === name)) {
      found.report.push({ package: name, state: 'there' });
    } else if (other !== undefined && isThere(database, other)) {
      found.report.push({ package: name, state: 'there', ...named });
    } else if (other !== undefined) {
      found.names.push(other);
      found.report.push({ package: name, state: other === name ? 'back' : 'renamed', ...named });
    } else if (isOfManager && set.package_files.some((file) => file.name === name)) {
      found.report.push({ package: name, state: 'back' });
      found.files = set.package_files;
    } else {
      const why = isUpload === true ? UPLOADED : NOT_OFFERED;
      found.report.push({ package: name, state: 'not_offered', message: why });
    }
  }
  found.files = found.files.filter(({ name }) => !isInstalled(database, name));
  return withoutObstacles(manager, found);
}

export const NOT_OFFERED = 'no feed of this device offers it';
const UPLOADED = 'it came as a file that was sent: send that file again';

function isThere(database: PackageDatabase, name: string): boolean {
  return database.get(name)?.state === 'installed';
}

const RENAMED: readonly (readonly [RegExp, string])[] = [
  [/^luci-app-opkg$/, 'luci-app-package-manager'],
  [/^luci-i18n-opkg-(.+)$/, 'luci-i18n-package-manager-$1'],
];
/** A library's name ends with the number of its interface: `libubox20230523`, `libopenssl3`. */
const LIBRARY = /^(lib[a-z0-9+_-]*?[a-z+_-])[0-9][0-9.]*[a-z]?$/;

/** By name what the feeds offer in its place, itself first; absent: nothing stands for it. */
async function successors(manager: PackageManager, names: readonly string[]) {
  if (names.length === 0) return new Map<string, string>();
  const renamed = (name: string): string | undefined => {
    const rule = RENAMED.find(([pattern]) => pattern.test(name));
    return rule && name.replace(...rule);
  };
  const stemOf = (name: string): string | undefined => LIBRARY.exec(name)?.[1];
  const asked = names.flatMap((name) => [name, renamed(name), stemOf(name)]);
  const offers = await manager.offers(asked.filter((name) => name !== undefined));
  const stems = new Map<string, string>();
  const wanted = names.filter((name) => !offers.has(name)).flatMap((name) => stemOf(name) ?? []);
  if (wanted.length > 0) {
    await manager.listing.summarize(({ name }) => {
      const stem = stemOf(name);
      if (stem !== undefined && wanted.includes(stem)) {
        const best = stems.get(stem) ?? '';
        if (name.localeCompare(best, 'en', { numeric: true }) > 0) stems.set(stem, name);
      }
      return true;
    });
  }
  return new Map(
    names.flatMap((name) => {
      const stem = stemOf(name) ?? '';
      const candidates = [name, renamed(name), stem].filter((each) => each !== undefined);
      const found = candidates.find((each) => offers.has(each)) ?? stems.get(stem);
      return found === undefined ? [] : [[name, found] as const];
    }),
  );
}

/** What stands against one package, and is no reason not to bring the others back. */
const OF_ONE: readonly ProblemCode[] = [
  ...(['not_found', 'dependency_missing', 'dependency_conflict', 'file_conflict'] as const),
  ...(['kernel_mismatch', 'wrong_architecture', 'held', 'unknown'] as const),
];

async function withoutObstacles(manager: PackageManager, found: ComesBack): Promise<ComesBack> {
  const why = new Map<string, string>();
  let names = [...new Set(found.names)];
  while (names.length > 0) {
    const { problems } = await manager.preview({ verb: 'install', names });
    const [first] = problems;
    if (first === undefined) break;
    const global = problems.find(({ code }) => !OF_ONE.includes(code));
    if (global !== undefined) {
      const { code, message: reason, remedy } = global;
      throw failureError('restore', { code, reason, remedy });
    }
    const blocked = await blockedOf(manager, names);
    // Each package could come alone, and all together cannot: the last one is left out.
    if (blocked.size === 0) blocked.set(names.at(-1) ?? '', first.message);
    for (const [name, message] of blocked) why.set(name, message);
    names = names.filter((name) => !blocked.has(name));
  }
  const report = found.report.map((line): ReportLine => {
    const message = why.get(line.as ?? line.package);
    return message === undefined ? line : { ...line, state: 'failed', message };
  });
  return { ...found, names, report };
}

async function blockedOf(manager: PackageManager, names: readonly string[]) {
  const blocked = new Map<string, string>();
  for (const name of names) {
    const { problems } = await manager.preview({ verb: 'install', names: [name] });
    const [own] = problems.filter(({ code }) => OF_ONE.includes(code));
    if (own !== undefined) blocked.set(name, own.message);
  }
  return blocked;
}

/** What the steps of a restore leave for those behind them. */
export const restored = slots('the restore', {
  /** Where the set is unpacked. */
  folder: v.string(),
  set: manifestSchema,
  report: v.optional(v.array(reportLine), []),
  /** Package files of the set that no feed has. */
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
