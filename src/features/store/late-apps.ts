import type { SourceRow } from './row.ts';

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
