import { rm } from 'node:fs/promises';
import * as v from 'valibot';
import { readJson, replaceFile } from '../../../device/durable-file.ts';
import { knownByVersion, type PackageDatabase } from '../../../package-management/database.ts';
import { byName } from '../../../package-management/names.ts';

export type Baseline = ReturnType<typeof createBaseline>;

interface BaselineContent {
  packages: PackageDatabase;
  /** Text of each configuration file that is to be changed, by its name. */
  configs: Readonly<Record<string, string>>;
  /** Texts of these files as the action wants them; daemons before 0.2 did not note it. */
  changed?: Readonly<Record<string, string>> | undefined;
}

const schema = v.object({
  key: v.string(),
  packages: byName(v.object({ version: v.string(), state: v.string() })),
  configs: byName(v.string()),
  changed: v.optional(byName(v.string())),
});

/**
 * What was there before the first change of an action, which may be several transactions: the
 * package manager's own copy is of before the last one.
 */
export function createBaseline(file: string) {
  return {
    save: async (key: string, { packages, ...texts }: BaselineContent) => {
      const entries = [...packages].map(
        ([name, { version, state }]) => [name, { version, state }] as const,
      );
      const content = { key, packages: Object.fromEntries(entries), ...texts };
      await replaceFile(file, `${JSON.stringify(content)}\n`);
    },
    read: async (key: string): Promise<BaselineContent | undefined> => {
      const found = v.safeParse(schema, await readJson(file));
      if (!found.success || found.output.key !== key) return undefined;
      const { packages, ...texts } = found.output;
      const entries = Object.entries(packages).map(
        ([name, kept]) => [name, knownByVersion(name, kept)] as const,
      );
      return { ...texts, packages: new Map(entries) };
    },
    forget: () => rm(file, { force: true }),
  };
}
