import type { TestDaemon } from '../../device/daemon.ts';

/** A change as GET plan answers it. */
export interface PlanChange {
  name: string;
  version: string;
  from_version?: string;
  reason: string;
  download_bytes?: number;
  disk_bytes: number;
}

/** The answer of GET plan. */
export interface PlanAnswer {
  installs: PlanChange[];
  upgrades: PlanChange[];
  removes: PlanChange[];
  download_bytes: number;
  disk_bytes: number;
  free_bytes: number;
  free_after_bytes: number;
  problems: { code: string; package?: string; message: string; remedy: string }[];
  is_possible: boolean;
  left: { name: string; reason: string }[];
}

/** @param names of apps or packages; none for everything */
export async function planOf(
  { get }: TestDaemon,
  operation: string,
  ...names: readonly string[]
): Promise<PlanAnswer> {
  const query = new URLSearchParams({ operation });
  for (const name of names) query.append('package', name);
  if (names.length === 0) query.append('all', 'true');
  const answer = await get(`admin/store/plan?${query.toString()}`);
  if (answer.status !== 200) throw new Error(`cannot plan: ${await answer.text()}`);
  return (await answer.json()) as PlanAnswer;
}

/** `NAME VERSION` of each change, by its kind. */
export function changesIn({ installs, upgrades, removes }: PlanAnswer): Record<string, string[]> {
  const texts = (changes: readonly PlanChange[]): string[] =>
    changes.map(({ name, version }) => `${name} ${version}`).sort();
  return { installs: texts(installs), upgrades: texts(upgrades), removes: texts(removes) };
}
