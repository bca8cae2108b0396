import type { SourceRow } from './index-row.ts';

/**
 * Apps that can be described only when all rows are known: those of which only a title is given,
 * and applications of LuCI, which are apps unless an app brings them.
 */
export interface LateApps {
  /** @param key under which the row stands; what was noted under it before is forgotten */
  note: (key: string, source: SourceRow) => void;
  /** @param describe the description of the first of these packages that has one, else empty */
  finish: (describe: (names: readonly string[]) => string) => [key: string, row: SourceRow][];
}

/** A feed is outside data: what is more than this is shown with its title alone. */
const MOST_APPS = 2000;

export function createLateApps(): LateApps {
  const waiting = new Map<string, SourceRow>();
  const brought = new Set<string>();
  return {
    note: (key, source) => {
      waiting.delete(key);
      // Texts are pieces of the list, and would keep the whole of that in memory.
      for (const name of source.brings ?? []) brought.add(structuredClone(name));
      const isLate = source.asApp !== undefined || source.describedBy !== undefined;
      if (!isLate || waiting.size >= MOST_APPS) return;
      waiting.set(key, structuredClone(source.asApp ?? source));
    },
    finish: (describe) =>
      [...waiting].flatMap(([key, app]): [string, SourceRow][] => {
        if (app.isLuciApp === true && brought.has(app.name)) return [];
        const description = describe(app.describedBy ?? []) || app.description;
        return [[key, { ...app, description }]];
      }),
  };
}
