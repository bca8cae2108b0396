import { closeSync, openSync, readSync } from 'node:fs';
import { systemCode } from '../../errors.ts';
import { isEnded, newId, type Job } from '../job.ts';
import { jobsToForget } from '../pruning.ts';
import { damagedJob, NO_JSON, readEntry } from './record.ts';

/** A line that cannot be believed. */
export interface DamagedLine {
  /** The id of the job that stands for the line. */
  id: string;
  /** Counted from 1. */
  number: number;
  damage: string;
  /** Whether it says that its job has ended. */
  isOver: boolean;
  text: string;
}

export interface JournalLimits {
  /** How many ended jobs are kept; the newest are. */
  mostEnded: number;
  /** How many jobs that wait are kept; the oldest are. A former version accepted any number. */
  mostQueued: number;
}

/** Longer lines are cut, and no record then: one of a move with very many containers has 100 kB. */
const MOST_LINE_BYTES = 4 * 1024 ** 2;
/** Limit for the lines of all jobs together: they, and the jobs made of them, fit the heap. */
const MOST_BYTES = 12 * 1024 ** 2;
/** Damaged lines that are kept and shown, so that they take no room from the jobs that are well. */
const MOST_DAMAGED = 20;
/** Most further damaged lines whose job's id is kept, to find its processes by. */
const MOST_DAMAGED_KNOWN = 10_000;

/**
 * Reads at once: the newest record of each job, at the position of its first one. A line that
 * cannot be believed is set aside, and so is the job that it names: what an older line says of it
 * may be long over. However long the file is, no more than some hundred ended jobs are in memory,
 * nor more that wait than may.
 * @throws an Error of Node if the file is there and cannot be read: it must not be written over
 */
export function readJournal(file: string, limits: JournalLimits) {
  const jobs = createNewest(limits);
  const damaged: DamagedLine[] = [];
  const setAside = (line: DamagedLine): void => {
    if (damaged.length < MOST_DAMAGED) jobs.put(damagedJob(line.id, line.damage), 0);
    else jobs.remove(line.id);
    if (damaged.length >= MOST_DAMAGED_KNOWN) return;
    damaged.push({ ...line, text: damaged.length < MOST_DAMAGED ? line.text : '' });
  };
  let end = 0;
  let lines = 0;
  let torn: { line: DamagedLine; before: number; place: Line } | undefined;
  eachLine(file, (place) => {
    const { text, number, offset } = place;
    if (torn !== undefined && !isOfCutWrite(torn.place, place)) setAside(torn.line);
    torn = undefined;
    lines += 1;
    const isKnown = damaged.length < MOST_DAMAGED_KNOWN;
    const entry = isKnown || mayBeRecord(text) ? readEntry(text) : unread(text);
    if ('job' in entry) jobs.put(entry.job, text.length);
    else if ('gone' in entry) jobs.remove(entry.gone);
    else {
      const { id = isKnown ? newId() : '', damage, isOver = false } = entry;
      const line = { id, number, damage, isOver, text };
      if (entry.damage === NO_JSON) torn = { line, before: end, place };
      else setAside(line);
    }
    end = offset;
  });
  return {
    /** Oldest first: in the order of the queue. */
    jobs: jobs.all(),
    damaged,
    /** How many jobs that waited are not among them, since they are more than may wait. */
    dropped: jobs.dropped(),
    /** Where the last line ends that was acknowledged: a power cut may have left half of one. */
    end: torn?.before ?? end,
    /** How many lines there are, also of records that newer ones replaced. */
    lines,
  };
}

/** What a disk writes at once. */
const SECTOR_BYTES = 512;

/**
 * Whether a line is a piece of a write that a power cut left without some of its sectors, whichever
 * came first: it was never acknowledged, and beside it, from the border of a sector on, the reserve
 * is still there. Between lines that were acknowledged there is no empty one.
 */
function isOfCutWrite(piece: Line, next: Line): boolean {
  const isAtBorder = (offset: number): boolean => offset % SECTOR_BYTES === 0;
  return (
    (piece.isBehindEmpty && isAtBorder(piece.start)) ||
    (next.isBehindEmpty && isAtBorder(piece.offset - 1))
  );
}

/** What was written by `toLine`, or says that a job is gone: a million others take their time. */
function mayBeRecord(text: string): boolean {
  return text.includes('"format":') || text.includes('"gone":');
}

function unread(text: string): { damage: string; id?: string; isOver?: boolean } {
  const [, id] = /"id":"([\w-]{1,64})"/.exec(text) ?? [];
  return { damage: 'it is no record', ...(id !== undefined && { id }) };
}

/** Nothing leaves an ended state, but for one that stands for a damaged line. */
function createNewest({ mostEnded, mostQueued }: JournalLimits) {
  const jobs = new Map<string, Job>();
  const sizes = new Map<string, number>();
  let [queued, allBytes] = [0, 0];
  let dropped = 0;
  const isOver = (job: Job | undefined): boolean => job !== undefined && isEnded(job.state);
  let ended = 0;
  const prune = (): void => {
    const limits = { jobs: mostEnded, logBytes: Infinity };
    for (const id of jobsToForget(jobs.values(), limits)) {
      jobs.delete(id);
      allBytes -= sizes.get(id) ?? 0;
      sizes.delete(id);
    }
    ended = mostEnded;
  };
  const count = (job: Job | undefined, by: number): void => {
    if (job?.state === 'queued') queued += by;
  };
  const isFull = (bytes: number): boolean => queued >= mostQueued || allBytes + bytes > MOST_BYTES;
  const resize = (id: string, bytes: number): void => {
    allBytes += bytes - (sizes.get(id) ?? 0);
    sizes.set(id, bytes);
  };
  return {
    dropped: () => dropped,
    put: (job: Job, bytes: number): void => {
      const before = jobs.get(job.id);
      if (job.state === 'queued' && before === undefined && isFull(bytes)) {
        dropped += 1;
        return;
      }
      const hasEnded = isOver(before) && before?.isDamaged !== true;
      if (hasEnded && (!isOver(job) || job.isDamaged === true)) return;
      count(before, -1);
      count(job, 1);
      resize(job.id, bytes);
      jobs.set(job.id, job);
      if (isOver(job) && !isOver(before)) ended += 1;
      if (ended > 2 * mostEnded + 200) prune();
    },
    remove: (id: string): void => {
      if (!jobs.has(id)) return;
      count(jobs.get(id), -1);
      resize(id, 0);
      sizes.delete(id);
      jobs.delete(id);
    },
    all: (): Job[] => {
      prune();
      return [...jobs.values()];
    },
  };
}

interface Line {
  text: string;
  /** Counted from 1. */
  number: number;
  /** Where a line begins in the file, and where it ends. */
  start: number;
  offset: number;
  /** Whether an empty line stands before it. */
  isBehindEmpty: boolean;
}

const LINE_END = '\n'.charCodeAt(0);
const CHUNK_BYTES = 64 * 1024;
const EMPTY_LINES = Buffer.alloc(CHUNK_BYTES, LINE_END);

/**
 * Calls for each line that has an end and is not blank. The reserve, thousands of empty lines, is
 * passed over at once: V8 would optimise a loop over them, and keep the 3 MB that this takes.
 */
function eachLine(file: string, onLine: (line: Line) => void): void {
  let pieces: Buffer[] = [];
  let [length, offset, number] = [0, 0, 0];
  let isBehindEmpty = false;
  const append = (piece: Buffer): void => {
    if (length < MOST_LINE_BYTES && piece.length > 0) pieces.push(Buffer.from(piece));
    length += piece.length;
  };
  eachChunk(file, (chunk) => {
    let from = 0;
    for (let to = chunk.indexOf(LINE_END); to >= 0; to = chunk.indexOf(LINE_END, from)) {
      number += 1;
      let text = '';
      if (length === 0) text = chunk.toString('utf8', from, to);
      else {
        append(chunk.subarray(from, to));
        text = Buffer.concat(pieces).toString('utf8');
      }
      const isEmpty = text.trim() === '';
      const start = offset + to - (length === 0 ? to - from : length);
      if (!isEmpty) onLine({ text, number, start, offset: offset + to + 1, isBehindEmpty });
      isBehindEmpty = isEmpty;
      pieces = [];
      [length, from] = [0, to + 1];
      if (text === '' && isReserve(chunk.subarray(from))) {
        number += chunk.length - from;
        from = chunk.length;
      }
    }
    append(chunk.subarray(from));
    offset += chunk.length;
  });
}

function isReserve(rest: Buffer): boolean {
  return rest.equals(EMPTY_LINES.subarray(0, rest.length));
}

/** A chunk is good until the next one comes. A file that is not there has none. */
function eachChunk(file: string, onChunk: (chunk: Buffer) => void): void {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      const bytes = readSync(descriptor, buffer, 0, CHUNK_BYTES, null);
      if (bytes === 0) return;
      onChunk(buffer.subarray(0, bytes));
    }
  } finally {
    closeSync(descriptor);
  }
}
