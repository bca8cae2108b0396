import { createReadStream } from 'node:fs';
import { systemCode } from '../errors.ts';
import { newId, type Job } from './job.ts';
import { jobsToForget } from './pruning.ts';
import { damagedJob, NO_JSON, readEntry } from './record.ts';
import { isEnded } from './states.ts';

/** A line that cannot be believed. */
export interface DamagedLine {
  /** Of the job that stands for it. */
  id: string;
  /** Counted from 1. */
  number: number;
  damage: string;
  /** Whether it says that its job has ended. */
  isOver: boolean;
  text: string;
}

export interface JournalContent {
  /** Oldest first: in the order of the queue. */
  jobs: Job[];
  damaged: DamagedLine[];
  /** Where the last line ends. */
  end: number;
}

/** Longer lines are cut, and no record then: one of a move with very many containers has 100 kB. */
const MOST_LINE_BYTES = 4 * 1024 ** 2;
/** Damaged lines that are kept and shown, so that they take no room from the jobs that are well. */
const MOST_DAMAGED = 20;

/**
 * Reads the newest record of each job, at the place of its first one. A line that cannot be
 * believed is set aside, and so is the job that it names: what an older line says of it may be long
 * over. However long the file is, no more than some hundred ended jobs are in memory.
 * @throws an Error of Node if the file is there and cannot be read: it must not be written over
 */
export async function readJournal(file: string, mostEnded: number): Promise<JournalContent> {
  const jobs = createNewest(mostEnded);
  const damaged: DamagedLine[] = [];
  const setAside = (line: DamagedLine): void => {
    if (damaged.length < MOST_DAMAGED) jobs.put(damagedJob(line.id, line.damage));
    else jobs.drop(line.id);
    damaged.push({ ...line, text: damaged.length < MOST_DAMAGED ? line.text : '' });
  };
  let [number, end] = [0, 0];
  let torn: (DamagedLine & { offset: number }) | undefined;
  for await (const { text, offset } of linesOf(file)) {
    number += 1;
    if (text.trim() === '') continue;
    if (torn !== undefined) setAside(torn);
    torn = undefined;
    const entry = readEntry(text);
    if ('job' in entry) jobs.put(entry.job);
    else if ('gone' in entry) jobs.drop(entry.gone);
    else {
      const { id = newId(), damage, isOver = false } = entry;
      const line = { id, number, damage, isOver, text };
      if (entry.damage === NO_JSON) torn = { ...line, offset: end };
      else setAside(line);
    }
    end = offset;
  }
  // The last line may be what a power cut left of one that was never acknowledged.
  return { jobs: jobs.all(), damaged, end: torn?.offset ?? end };
}

interface Newest {
  put: (job: Job) => void;
  drop: (id: string) => void;
  all: () => Job[];
}

/** Nothing leaves an ended state, but for one that stands for a damaged line. */
function createNewest(mostEnded: number): Newest {
  const jobs = new Map<string, Job>();
  const isOver = (job: Job | undefined): boolean => job !== undefined && isEnded(job.state);
  let ended = 0;
  const prune = (): void => {
    const limits = { jobs: mostEnded, logBytes: Infinity };
    for (const id of jobsToForget(jobs.values(), limits)) jobs.delete(id);
    ended = mostEnded;
  };
  return {
    put: (job) => {
      const before = jobs.get(job.id);
      const isSettled = isOver(before) && before?.isDamaged !== true;
      if (isSettled && (!isOver(job) || job.isDamaged === true)) return;
      jobs.set(job.id, job);
      if (isOver(job) && !isOver(before)) ended += 1;
      if (ended > 2 * mostEnded + 200) prune();
    },
    drop: (id) => jobs.delete(id),
    all: () => {
      prune();
      return [...jobs.values()];
    },
  };
}

interface Line {
  text: string;
  /** Where it ends in the file. */
  offset: number;
}

const LINE_END = '\n'.charCodeAt(0);

/** The lines that have an end, one at a time. */
async function* linesOf(file: string): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let [length, offset] = [0, 0];
  const keep = (piece: Buffer): void => {
    if (length < MOST_LINE_BYTES) pieces.push(Buffer.from(piece));
    length += piece.length;
  };
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let to = chunk.indexOf(LINE_END); to >= 0; to = chunk.indexOf(LINE_END, from)) {
        keep(chunk.subarray(from, to));
        yield { text: Buffer.concat(pieces).toString('utf8'), offset: offset + to + 1 };
        pieces = [];
        [length, from] = [0, to + 1];
      }
      keep(chunk.subarray(from));
      offset += chunk.length;
    }
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}
