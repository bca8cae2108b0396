import * as v from 'valibot';
import { run } from '../../../device/exec.ts';
import type { ApkCommands } from './commands.ts';
import type { PlannedChange } from './simulation.ts';

/** What a plan takes, in bytes. */
export interface PlanSizes {
  download: number;
  /** What the root grows by; negative if it shrinks. */
  disk: number;
}

const LIMITS = { timeoutMs: 60_000, maxBytes: 16 * 1024 ** 2 };

const queried = v.array(
  v.object({
    name: v.string(),
    version: v.string(),
    'file-size': v.optional(v.number(), 0),
    'installed-size': v.optional(v.number(), 0),
  }),
);

/** As the indexes and the record have it; what apk prints itself is rounded. */
export async function sizesOf(
  { apk }: Pick<ApkCommands, 'apk'>,
  changes: readonly PlannedChange[],
): Promise<PlanSizes> {
  if (changes.length === 0) return { download: 0, disk: 0 };
  const { stdout } = await run(
    apk(
      'query',
      '--format',
      'json',
      '--all-matches',
      '--fields',
      'name,version,file-size,installed-size',
      '--',
      ...changes.map(({ name }) => name),
    ),
    LIMITS,
  );
  const known = new Map(
    parse(stdout).map((entry) => [`${entry.name} ${entry.version}`, entry] as const),
  );
  const sizes = { download: 0, disk: 0 };
  for (const { name, from = '', to = '' } of changes) {
    const [before, after] = [known.get(`${name} ${from}`), known.get(`${name} ${to}`)];
    sizes.download += after?.['file-size'] ?? 0;
    sizes.disk += (after?.['installed-size'] ?? 0) - (before?.['installed-size'] ?? 0);
  }
  return sizes;
}

function parse(json: string): v.InferOutput<typeof queried> {
  try {
    return v.parse(queried, JSON.parse(json));
  } catch {
    // Without it the disk itself says that it is full, and the job is taken back.
    return [];
  }
}
