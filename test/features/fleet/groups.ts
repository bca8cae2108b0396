import type { ActionState } from './fleet-server.ts';

/** A rollout as hawkBit does it: one group behind the other, and a pause if too many fail. */
export interface Rollout {
  /** @returns its status as it is now: `running`, `paused` or `finished` */
  readonly status: () => Promise<string>;
}

/** Of the targets that are left, for each group. */
export const GROUP_PERCENTAGES = [20, 50, 100];
export const SUCCESS_PERCENTAGE = 80;
export const ERROR_PERCENTAGE = 20;

/** For a server that has no rollouts of its own. */
export async function rollOutByGroups(
  targets: readonly string[],
  assign: (target: string) => Promise<() => Promise<ActionState>>,
): Promise<Rollout> {
  const groups = splitIntoGroups(targets);
  let current: (() => Promise<ActionState>)[] = [];
  const beginNext = async (): Promise<boolean> => {
    const next = groups.shift();
    if (next === undefined) return false;
    current = await Promise.all(next.map(assign));
    return true;
  };
  await beginNext();
  let isPaused = false;
  return {
    status: async () => {
      const states = await Promise.all(current.map((state) => state()));
      const percentageOf = (status: string): number =>
        (states.filter((state) => state.status === status).length * 100) / states.length;
      // hawkBit takes success at its threshold, and errors above theirs.
      isPaused ||= percentageOf('error') > ERROR_PERCENTAGE;
      if (isPaused) return 'paused';
      if (percentageOf('finished') < SUCCESS_PERCENTAGE) return 'running';
      return (await beginNext()) ? 'running' : 'finished';
    },
  };
}

function splitIntoGroups(targets: readonly string[]): string[][] {
  const left = [...targets];
  return GROUP_PERCENTAGES.map((percentage) =>
    left.splice(0, Math.ceil((left.length * percentage) / 100)),
  ).filter((group) => group.length > 0);
}
