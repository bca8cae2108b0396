import type { Job, Lane } from './job.ts';

export type Lanes = ReturnType<typeof createLanes>;

/**
 * The lines of jobs that wait, one line a lane, and the job that each lane runs.
 * @param run runs a job to its end; must not throw
 */
export function createLanes(run: (job: Job) => Promise<void>) {
  const lines = new Map<Lane, Job[]>();
  const busy = new Set<Lane>();
  const held = new Set<Job>();
  let isClosed = false;
  let ready: Promise<void> | undefined;

  const next = (lane: Lane): Job | undefined => {
    const line = lines.get(lane) ?? [];
    const index = line.findIndex((job) => !held.has(job));
    return index < 0 ? undefined : line.splice(index, 1)[0];
  };
  const drain = async (lane: Lane): Promise<void> => {
    if (busy.has(lane)) return;
    busy.add(lane);
    while (ready !== undefined) await ready;
    while (!isClosed) {
      const job = next(lane);
      if (job === undefined) break;
      await run(job);
    }
    busy.delete(lane);
  };

  return {
    /** Lines the job up; it runs at once if its lane is free. */
    add: (job: Job): void => {
      lines.set(job.lane, [...(lines.get(job.lane) ?? []), job]);
      void drain(job.lane);
    },
    /** Keeps a waiting job from running. Returns how to let it run after all, at its old place. */
    hold: (job: Job): (() => void) => {
      held.add(job);
      return () => {
        held.delete(job);
        void drain(job.lane);
      };
    },
    /** Removes a waiting job from its line. */
    remove: (job: Job): void => {
      held.delete(job);
      const rest = (lines.get(job.lane) ?? []).filter((other) => other !== job);
      lines.set(job.lane, rest);
    },
    /** How many jobs wait, in all lanes. */
    count: (): number => [...lines.values()].flat().length,
    /** No job begins until the work is done. */
    after: (work: Promise<void>): void => {
      ready = work.finally(() => (ready = undefined));
    },
    /** From now on no job begins. */
    close: (): void => void (isClosed = true),
    isClosed: (): boolean => isClosed,
  };
}
