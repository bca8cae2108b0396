import type { PackageSummary } from '../../package-management/listing.ts';
import { appOf, luciSubjectOf } from '../../package-management/names.ts';
import { describeLuciApp } from './luci/luci-app.ts';

/** @param feed empty for what the device's own records say */
export function rowIn(described: Omit<PackageSummary, 'feed'>, feed: string): SourceRow {
  const { name, isApp } = appOf(described.name);
  const { description, version, tags, section, downloadBytes, installedBytes, time } = described;
  const row: SourceRow = {
    name,
    isApp,
    title: '',
    description,
    version,
    tags,
    section,
    feed,
    downloadBytes,
    installedBytes,
    time,
  };
  if (isApp) return { ...describeApp(row, described.depends), brings: luciAppsOf(described) };
  const subject = luciSubjectOf(name);
  return subject === undefined ? row : { ...row, asApp: luciApp(row, subject, described.depends) };
}

/** Applications of LuCI that the app of a meta package stands for. */
export function luciAppsOf({ name, depends }: Pick<PackageSummary, 'name' | 'depends'>): string[] {
  const app = appOf(name).name;
  return [...depends.flat(), app, `luci-app-${app}`].filter(
    (each) => luciSubjectOf(each) !== undefined,
  );
}

function luciApp(row: SourceRow, subject: string, depends: PackageSummary['depends']): SourceRow {
  const { title, isTitleAll, tags } = describeLuciApp(subject, row.description);
  const app = { ...row, isApp: true, isLuciApp: true as const, title, tags };
  const describers = describersOf(subject, depends).filter((each) => !each.startsWith('luci-'));
  return isTitleAll ? { ...app, describedBy: describers } : app;
}

function describeApp(row: SourceRow, depends: PackageSummary['depends']): SourceRow {
  const { title, description } = splitDescription(row.description);
  if (description !== '' && description !== title) return { ...row, title, description };
  return { ...row, title, description, describedBy: describersOf(row.name, depends) };
}

const LONGEST_TITLE = 48;

/**
 * A feed has no titles. OpenWrt's builder writes a package's title as its description if there is
 * no longer one: one short line that is no sentence is a title. So is the first line of several,
 * unless the next one goes on with its sentence; then the others are the description.
 */
export function splitDescription(text: string): { title: string; description: string } {
  const end = text.indexOf('\n');
  const first = end === -1 ? text : text.slice(0, end);
  const others = end === -1 ? '' : text.slice(end).trim();
  const isTitle =
    first.length <= LONGEST_TITLE &&
    !/[.,:;!?\u3002\uff0c\uff1a\uff1b\uff01\uff1f]$/.test(first) &&
    !/^\p{Ll}/u.test(others);
  if (!isTitle) return { title: '', description: text };
  return { title: first, description: others === '' ? first : others };
}

const MOST_DESCRIBERS = 10;

/** The app's own package, and what it brings; a library says nothing of an app. */
function describersOf(name: string, depends: readonly (readonly string[])[]): string[] {
  const others = depends.flatMap(([first]) => first ?? []);
  const describers = [name, ...others.filter((other) => !/^(?:lib|kmod-)/.test(other))];
  return describers.slice(0, MOST_DESCRIBERS);
}

/** What a list shows of an app or a package. */
export interface IndexRow {
  name: string;
  isApp: boolean;
  /** Whether the row is an app whose name is that of its package. */
  isLuciApp?: true;
  /** The app or package as people call it; empty if that is the name. */
  title: string;
  description: string;
  version: string;
  tags: readonly string[];
  section: string;
  feed: string;
  downloadBytes: number;
  installedBytes: number;
  /** Unix seconds, 0 if nobody says. */
  time: number;
}

/** A row as it comes from a list. */
export interface SourceRow extends IndexRow {
  /** What an installed app also says in English: it is searched, and shown by its state. */
  english?: string | undefined;
  /** Packages that describe an app which does not say more than its title, the best first. */
  describedBy?: readonly string[];
  /** Packages that an app brings, which are no apps beside it. */
  brings?: readonly string[];
  /** The app that a package is unless an app brings it. */
  asApp?: SourceRow;
}

/** A feed is outside data: what is more than this is shown with its title alone. */
const MOST_APPS = 2000;

/**
 * Apps that can be described only when all rows are known: those of which only a title is given,
 * and applications of LuCI, which are apps unless an app brings them.
 */
export function createLateApps() {
  const waiting = new Map<string, SourceRow>();
  const brought = new Set<string>();
  return {
    /** @param key under which the row stands; what was noted under it before is forgotten */
    note: (key: string, source: SourceRow): void => {
      waiting.delete(key);
      // Texts are pieces of the list, and would keep the whole of that in memory.
      for (const name of source.brings ?? []) brought.add(structuredClone(name));
      const isLate = source.asApp !== undefined || source.describedBy !== undefined;
      if (!isLate || waiting.size >= MOST_APPS) return;
      waiting.set(key, structuredClone(source.asApp ?? source));
    },
    /** @param describe the description of the first of these packages that has one, else empty */
    finish: (describe: (names: readonly string[]) => string) =>
      [...waiting].flatMap(([key, app]): [string, SourceRow][] => {
        if (app.isLuciApp === true && brought.has(app.name)) return [];
        const description = describe(app.describedBy ?? []) || app.description;
        return [[key, { ...app, description }]];
      }),
  };
}
