import type { Job, Lane } from './job.ts';

/** The lines of jobs that wait, one line a lane, and the job that each lane runs. */
export interface Lanes {
  /** Lines the job up; it runs at once where its lane is free. */
  add: (job: Job) => void;
  /** Takes a waiting job out of its line. */
  remove: (job: Job) => void;
  /** From now on no job begins. */
  close: () => void;
  isClosed: () => boolean;
}

/** @param run takes a job to its end; must not throw */
export function createLanes(run: (job: Job) => Promise<void>): Lanes {
  const lines = new Map<Lane, Job[]>();
  const busy = new Set<Lane>();
  let isClosed = false;

  const drain = async (lane: Lane): Promise<void> => {
    if (busy.has(lane)) return;
    busy.add(lane);
    while (!isClosed) {
      const next = lines.get(lane)?.shift();
      if (next === undefined) break;
      await run(next);
    }
    busy.delete(lane);
  };

  return {
    add: (job) => {
      const line = lines.get(job.lane) ?? [];
      line.push(job);
      lines.set(job.lane, line);
      void drain(job.lane);
    },
    remove: (job) => {
      lines.set(
        job.lane,
        (lines.get(job.lane) ?? []).filter((other) => other !== job),
      );
    },
    close: () => (isClosed = true),
    isClosed: () => isClosed,
  };
}
