import { setTimeout as delay } from 'node:timers/promises';
import { pauseBetweenLooks } from '../../device/process-table.ts';
import { DepotError } from '../../errors.ts';
import { EXPLAINED_BYTES } from '../../package-management/failure.ts';
import { failureIn } from './disk-failure.ts';
import type { ContainerSummary, Launch } from './engine/engine.ts';
import type { Holder } from './engine/engine-processes.ts';
import type { ContainerHost } from './host.ts';
import type { StepContext } from '../../jobs/plan.ts';
import { isSamePlace } from './reasons-against.ts';
import { noteRun } from './target-folder.ts';

const POLL_MS = 50;
/** From the request to stop; an engine ends its containers first, each within its own time-out. */
const STOP_LIMIT_MS = 5 * 60_000;
/** How long what outlives a killed engine is waited for, before one is started to take it over. */
const ORPHAN_MS = 10_000;
/** A large store on slow flash takes its time. From the first start. */
const START_LIMIT_MS = 5 * 60_000;

type Telling = Pick<StepContext, 'note' | 'logFile' | 'lastPrinted'>;

/**
 * Comes back when nothing works in the data root any more; containers that outlived a killed engine
 * are taken over by one that is started for it. Safe to do again, and not broken off: a
 * half-stopped engine cannot be repaired. @throws DepotError unavailable
 */
export async function stopEngine(
  { engine }: ContainerHost,
  dataRoot: string,
  { note, logFile }: Telling,
): Promise<void> {
  const stop = createStartAttempts({ launch: () => engine.stop(logFile), most: 3 });
  const adopt = createStartAttempts({ launch: () => engine.start(logFile), most: 2 });
  const since = performance.now();
  const passedMs = (): number => performance.now() - since;
  const isHopeless = (isOrphaned: boolean): boolean =>
    passedMs() > STOP_LIMIT_MS || stop.isGivenUp() || (isOrphaned && adopt.isGivenUp());
  let orphanedSince = Infinity;
  for (;;) {
    const state = await engine.state();
    const holders = state.kind === 'absent' ? await engine.holders(dataRoot) : [];
    // The rest of the stop command would remove what the next engine makes, such as its socket.
    if (state.kind === 'absent' && holders.length === 0) return stop.ended();
    orphanedSince = state.kind === 'absent' ? Math.min(orphanedSince, performance.now()) : Infinity;
    const isOrphaned = performance.now() - orphanedSince > ORPHAN_MS;
    if (isHopeless(isOrphaned)) {
      throw new DepotError(
        'unavailable',
        `cannot stop the container engine: ${textOf(holders) || 'it goes on answering'}`,
      );
    }
    if (state.kind === 'answers') {
      await stopAnswering(engine, { stop, adopt }, state.leavesContainers);
    }
    if (isOrphaned && adopt.isFree()) {
      await note(`${textOf(holders)} outlived the engine; it is started to take them over`);
      await adopt.need();
    }
    await delay(pauseBetweenLooks(passedMs()));
  }
}

/**
 * An engine that ends its containers itself remembers that they ran; those that would outlive it
 * are ended one by one.
 */
async function stopAnswering(
  engine: ContainerHost['engine'],
  { stop, adopt }: Readonly<Record<'stop' | 'adopt', StartAttempts>>,
  leavesContainers: boolean,
): Promise<void> {
  const mustEndThem = leavesContainers || adopt.hasRun();
  if (stop.isFree() && (mustEndThem || !(await engine.isSlowToStop()))) {
    const running = await engine.running().catch(() => []);
    await Promise.all(running.map(({ id }) => engine.stopContainer(id)));
  }
  await stop.need();
}

export function textOf(holders: readonly Holder[]): string {
  return holders.map(({ text }) => text).join(', ');
}

export interface EngineWanted {
  /** The data root in which the engine must say that it works. */
  dataRoot: string;
  /** What must run then. */
  containers: readonly ContainerSummary[];
  /** Containers that it may not know: it works with other data than before. */
  mayLack?: boolean;
  /** An engine that works elsewhere is started anew: it may have read the settings too early. */
  mayCorrect?: boolean;
  /** Called when the engine answers there, before any container is started here. */
  onAnswer?: () => Promise<void>;
}

/** The engine at the new place of a move that may still be undone. */
export function engineAtTarget(
  target: string,
  { jobId, isCopy }: { jobId: string; isCopy: boolean },
): Omit<EngineWanted, 'containers'> {
  return isCopy
    ? { dataRoot: target, onAnswer: () => noteRun(target, jobId) }
    : { dataRoot: target, mayLack: true };
}

/**
 * Comes back when the engine answers with that data root and those containers run. Safe to do
 * again, and not broken off: an engine that was launched and is not yet to be seen would come up
 * behind whoever undoes the start.
 * @throws DepotError unavailable
 */
export async function startEngine(host: ContainerHost, wanted: EngineWanted, telling: Telling) {
  const actual = await bringEngineUp(host, telling);
  const found = await host.locations.inspect(actual);
  if (isSamePlace(found, await host.locations.inspect(wanted.dataRoot))) {
    await wanted.onAnswer?.();
    await startContainers(host, wanted, telling.note);
    return;
  }
  if (wanted.mayCorrect !== true) {
    throw new DepotError(
      'unavailable',
      `cannot have the container engine work in ${wanted.dataRoot}: it works in ${actual}`,
    );
  }
  await telling.note(`the container engine came up in ${actual}: it is stopped and started again`);
  await stopEngine(host, found.real, telling);
  await startEngine(host, { ...wanted, mayCorrect: false }, telling);
}

/** @returns the data root that it says it works in */
async function bringEngineUp(
  { engine }: ContainerHost,
  { logFile, lastPrinted }: Telling,
): Promise<string> {
  const start = createStartAttempts({ launch: () => engine.start(logFile), most: 3 });
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const state = await engine.state();
    if (state.kind === 'answers') return state.dataRoot;
    if (performance.now() > deadline || start.isGivenUp()) {
      throw notStarted(await lastPrinted(EXPLAINED_BYTES));
    }
    if (state.kind === 'absent') await start.need();
    else start.seen();
    await delay(POLL_MS);
  }
}

/** What starts an engine prints into the task log; an engine of procd prints into the syslog. */
function notStarted(output: string): DepotError {
  const known = failureIn(output);
  const words = known === undefined ? ', and printed nothing' : `: ${known.reason}`;
  const isClassified = known !== undefined && known.explanation.code !== 'unknown';
  return new DepotError(
    'unavailable',
    `cannot start the container engine: it does not answer${words}`,
    { explanation: isClassified ? known.explanation : NOT_STARTED },
  );
}

const NOT_STARTED = {
  code: 'unknown',
  remedy:
    "Read the engine's own log (`logread -e docker` or `journalctl -u docker`), mend what it " +
    'names, then start the task again.',
};

/** The engine itself starts again what its restart policies say; the others are started here. */
const CONTAINERS_LIMIT_MS = 2 * 60_000;
/** Tries to start one: a reason that comes so often stays, and the others are writing meanwhile. */
const RETRY_MS = 500;
const MOST_TRIES = 4;

async function startContainers(
  { engine }: ContainerHost,
  wanted: EngineWanted,
  note: StepContext['note'],
): Promise<void> {
  const deadline = performance.now() + CONTAINERS_LIMIT_MS;
  const startedBefore = new Map<string, number | undefined>();
  const lacking = new Map(wanted.containers.map((container) => [container.id, container.name]));
  for (let tries = 1; ; tries += 1) {
    const reasons: string[] = [];
    for (const [id, name] of [...lacking]) {
      const reason = await bringUp(engine, id, { startedBefore, mayLack: wanted.mayLack === true });
      if (reason === undefined) lacking.delete(id);
      else if ('note' in reason) {
        await note(`${name} ${reason.note}`).then(() => lacking.delete(id));
      } else reasons.push(`${name} ${reason.fault}`);
    }
    if (lacking.size === 0) return;
    if (tries >= MOST_TRIES || performance.now() > deadline) {
      const message = `cannot get the containers running again: ${reasons.join('; ')}`;
      throw new DepotError('unavailable', message);
    }
    await delay(RETRY_MS);
  }
}

/**
 * @param start `startedBefore`: of those that were started here, when they had last begun until
 *   then, if that could be seen; a clock that is set meanwhile does not matter so
 * @returns undefined when it runs; a note if it need not; what is wrong as long as it should
 */
async function bringUp(
  engine: ContainerHost['engine'],
  id: string,
  start: { startedBefore: Map<string, number | undefined>; mayLack: boolean },
): Promise<{ note: string } | { fault: string } | undefined> {
  const state = await engine.inspect(id);
  const isUnseen = typeof state === 'string';
  if (!isUnseen && state?.isRunning === true) return undefined;
  if (state === undefined) {
    if (start.mayLack) return { note: 'is not known there' };
    // An engine knows all of its containers before it answers.
    throw new DepotError(
      'unavailable',
      `cannot get the containers running again: the engine no longer knows ${id.slice(0, 12)}`,
    );
  }
  const { startedBefore } = start;
  const known = startedBefore.get(id);
  if (startedBefore.has(id) && hasRunSince(known, state)) {
    return { note: 'ran, and has ended by itself' };
  }
  const fault = await engine.startContainer(id);
  if (fault !== undefined) return { fault: `cannot be started: ${fault}` };
  startedBefore.set(id, isUnseen ? undefined : state.startedAt);
  const isRunning = (await engine.running()).some((one) => one.id === id);
  if (isRunning) return undefined;
  return { fault: isUnseen ? `cannot be looked at: ${state}` : 'was started and runs no more' };
}

function hasRunSince(
  known: number | undefined,
  state: Awaited<ReturnType<ContainerHost['engine']['inspect']>>,
): boolean {
  return typeof state === 'object' && state.startedAt !== known && state.exitCode === 0;
}

/** From a command's end to its effect, such as the socket of an engine in the background. */
const EFFECT_MS = 10_000;
const SEEN_EFFECT_MS = 3000;

type StartAttempts = ReturnType<typeof createStartAttempts>;

/** Runs a service manager's command as often as needed, but no two at a time and not too often. */
function createStartAttempts({ launch, most }: { launch: () => Promise<Launch>; most: number }) {
  let count = 0;
  let isRunning = false;
  let ended = Promise.resolve();
  let quietUntil = 0;
  const isFree = (): boolean => !isRunning && performance.now() >= quietUntil;
  return {
    /** Runs it if it does not run, and has had time to show its effect. */
    need: async (): Promise<void> => {
      if (!isFree() || count >= most) return;
      count += 1;
      isRunning = true;
      const launched = await launch();
      ended = launched.ended.then(() => {
        isRunning = false;
        quietUntil = performance.now() + EFFECT_MS;
      });
    },
    /** The start command shows effect: when that is gone, the next run need not wait for it. */
    seen: (): void => {
      quietUntil = Math.min(quietUntil, performance.now() + SEEN_EFFECT_MS);
    },
    isFree,
    /** Settles when it has ended; one that takes longer than its effect is not waited for. */
    ended: () => Promise.race([ended, delay(EFFECT_MS, undefined, { ref: false })]),
    hasRun: () => count > 0,
    /** Whether it has run as often as it may, without effect. */
    isGivenUp: () => count >= most && isFree(),
  };
}
