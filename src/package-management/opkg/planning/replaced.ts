import { appOf } from '../../names.ts';
import { createProblem, type Problem } from '../../problem.ts';
import { isThere } from './catalogue.ts';
import type { Simulation } from './simulation.ts';

/**
 * opkg installs a package that both conflicts with what was asked for and replaces it in its place,
 * and ends well; the job would not.
 */
export function replacedProblems(
  { catalogue, problems }: Simulation,
  names: readonly string[],
): Problem[] {
  if (problems.length > 0) return [];
  const there = catalogue.candidates().filter(isThere);
  const isProvided = (name: string): boolean =>
    there.some(({ provides }) => provides.some((provided) => provided.name === name));
  return names.flatMap((name) => {
    const [replacement] = catalogue.find(name)?.replacedBy ?? [];
    if (replacement === undefined) return [];
    catalogue.budget.spend(there.length);
    if (isProvided(name)) return [];
    const message =
      `cannot install ${appOf(name).name}: opkg installs ${replacement.name} in the place of ` +
      `${name}, which it replaces`;
    const remedy = `Install ${replacement.name} instead.`;
    return [{ ...createProblem('dependency_conflict', message, name), remedy }];
  });
}
