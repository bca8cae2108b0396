import { setTimeout as delay } from 'node:timers/promises';

import { runCommand } from '../device/command.ts';
import type { TaskStatus } from '../device/daemon.ts';
import type { Random } from '../support/random.ts';
import type { Bench } from './bench.ts';
import { cutPower, doDamage } from './damage.ts';
import { armedName, isProgramFault, type Fault } from './faults.ts';
import { judge } from './judge.ts';
import { killAll, processesOfRoot } from './process-scan.ts';
import type { Scenario } from './scenarios.ts';
import {
  createSupervisedDaemon,
  nothing,
  waitUntil,
  type SupervisedDaemon,
} from './supervised-daemon.ts';

/** One try: a job of one kind, one beside it in its lane, and faults while they run. */
export interface Attempt {
  bench: Bench;
  scenario: Scenario;
  faults: readonly Fault[];
  random: Random;
}

/** What the faults hit, and what did not hold. */
export interface AttemptResult {
  /** By index of the fault: the change that it came before; absent where the jobs ended first. */
  points: Record<string, string>;
  state: string;
  error: string;
  starts: number;
  /** Changes that the daemon made, if it lived through the whole try. */
  changes: number;
  findings: string[];
  /** If there are findings: how each job ended, with the end of its log, and that of the daemon's. */
  traces: string[];
}

/** A job of a try: what was answered to its submission, and how it ended. */
export interface TryJob {
  name: 'main' | 'beside' | 'afterwards';
  answer: { id: string } | { refused: string };
  status: TaskStatus | undefined;
  log: string;
}

/**
 * Escalation of a stop takes 22 s, a repair that hangs is let go when the try heals; an upgrade of
 * the daemon itself waits for the old version and for the new one.
 */
const END_LIMIT_MS = 120_000;

export async function attempt({
  bench,
  scenario,
  faults,
  random,
}: Attempt): Promise<AttemptResult> {
  await bench.restore(scenario.state);
  bench.publish(scenario.feed, scenario.store);
  if (scenario.lane === 'container') await bench.containers?.restore(bench.device.root);
  const control = { set: bench.containers?.set ?? [], isPackage: false };
  const daemon = createSupervisedDaemon(bench, { ...control, ...scenario.supervision });
  await daemon.arm(nothing('start'));
  await daemon.ensure();
  try {
    const program = scenario.lane === 'container' ? 'rsync' : 'opkg';
    const stage: Stage = { bench, daemon, random, program, jobs: [] };
    await undergoAll(stage, scenario, faults);
    const changes = await heal(bench, daemon);
    await end(stage);
    const findings = await judge({ ...stage, scenario, faults });
    return {
      points: await pointsOf(daemon),
      state: stage.jobs[0]?.status?.state ?? 'refused',
      error: stage.jobs[0]?.status?.error ?? '',
      starts: daemon.starts(),
      changes,
      findings,
      traces: tracesOf(stage, findings),
    };
  } finally {
    await bench.programs.behave();
    await daemon.close();
  }
}

const TRACE_CHARACTERS = 4000;

function tracesOf({ jobs, daemon }: Stage, findings: readonly string[]): string[] {
  if (findings.length === 0) return [];
  const ends = jobs.map(({ name, status, log }) =>
    [name, JSON.stringify(status), log.slice(-TRACE_CHARACTERS)].join('\n'),
  );
  return [...ends, daemon.log.join('\n').slice(-TRACE_CHARACTERS)];
}

/** The job, one beside it, and the faults; a fault that ends the daemon may come before either. */
async function undergoAll(
  stage: Stage,
  scenario: Scenario,
  faults: readonly Fault[],
): Promise<void> {
  const { bench, daemon } = stage;
  const waiting = [...faults.entries()];
  if (waiting[0] !== undefined) await arm(stage, waiting[0][1], 0);
  await begin(stage, 'main', () => scenario.submit(bench, daemon));
  if (!daemon.isUp()) await undergo(stage, waiting.shift());
  await begin(stage, 'beside', () => daemon.submit('install', { package: 'beside' }));
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    const [index, fault] = entry;
    if (index > 0) await arm(stage, fault, index);
    if (!(await undergo(stage, entry))) break;
  }
}

/** What the steps of a try work on. */
interface Stage {
  bench: Bench;
  daemon: SupervisedDaemon;
  random: Random;
  /** The host program that the job is done by. */
  program: 'opkg' | 'rsync';
  jobs: TryJob[];
}

async function begin(
  { daemon, jobs }: Stage,
  name: TryJob['name'],
  submit: () => Promise<TryJob['answer']>,
): Promise<void> {
  await daemon.ensure();
  jobs.push({ name, answer: await submit(), status: undefined, log: '' });
}

async function arm(stage: Stage, fault: Fault, index: number): Promise<void> {
  const { bench, daemon } = stage;
  const { name, at, forMs, clockOffsetMs, call } = fault;
  if (isProgramFault(name)) {
    await bench.programs.misbehave(stage.program, name, call);
    // Who waited for a daemon that the program is to bring back would not let go of the program.
    if (daemon.isManaged) return;
    if (!daemon.isUp()) await daemon.arm(nothing(`program ${index}`));
  } else {
    await daemon.arm({ id: String(index), at, fault: armedName(name), forMs, clockOffsetMs });
  }
  await daemon.ensure();
}

/** Waits for the fault, and does what is to be done from outside. @returns whether it came */
async function undergo(stage: Stage, entry: [number, Fault] | undefined): Promise<boolean> {
  if (entry === undefined) return false;
  const { daemon } = stage;
  const [index, fault] = entry;
  const hasFired = async (): Promise<boolean> =>
    (await daemon.events()).some((event) =>
      isProgramFault(fault.name)
        ? event.fault === fault.name && event.program !== undefined
        : event.fired === String(index),
    );
  await waitUntil(async () => (await hasFired()) || haveEnded(daemon), END_LIMIT_MS);
  if (!(await hasFired())) return false;
  await actOutside(stage, fault);
  return true;
}

async function actOutside(stage: Stage, { name, forMs, damage }: Fault): Promise<void> {
  const { bench, daemon } = stage;
  if (ENDS.includes(name)) {
    if (name === 'damage') await daemon.whileDown(() => doDamage(bench, damage));
    else if (name === 'power cut') await daemon.whileDown(() => cutPower(bench));
    else await waitUntil(() => !daemon.isUp(), 15_000);
    return;
  }
  if (name === 'kill a process of the job') await killOne(stage);
  if (name === 'stop') await stop(stage);
  if (name === 'program vanishes') await bench.programs.remove(stage.program);
  await delay(forMs);
  if (name === 'descriptors') await giveDescriptors(daemon);
  if (name === 'program vanishes' || name === 'hangs') await bench.programs.behave();
}

/** Faults that the daemon does not live through. */
const ENDS: readonly string[] = ['kill', 'term', 'damage', 'power cut'];

async function killOne({ bench, random }: Stage): Promise<void> {
  const pids = await processesOfRoot(bench.device.root);
  killAll(pids.slice(random.below(pids.length + 1)).slice(0, 1));
}

async function stop({ daemon, jobs }: Stage): Promise<void> {
  const id = idOf(jobs[0]);
  if (id === undefined) return;
  const base = '/cgi-bin/panel/admin';
  const token = (await daemon.ask(`${base}/store/token`))?.text ?? '';
  const value = /"token":"([^"]+)"/.exec(token)?.[1] ?? '';
  await daemon.ask(`${base}/system/tasks/stop?task_id=${id}&token=${value}`, { method: 'POST' });
}

async function giveDescriptors(daemon: SupervisedDaemon): Promise<void> {
  await runCommand(['prlimit', '--pid', String(daemon.pid()), '--nofile=1024:']);
}

/** Takes every fault back. @returns how many changes the daemon has made since it was armed */
async function heal(bench: Bench, daemon: SupervisedDaemon): Promise<number> {
  await bench.programs.behave();
  if (daemon.isUp()) await giveDescriptors(daemon);
  await daemon.arm(nothing('healed'));
  await daemon.ensure();
  const counted = (await daemon.events()).findLast(({ count }) => count !== undefined);
  return counted?.count ?? 0;
}

async function end(stage: Stage): Promise<void> {
  const { daemon, jobs } = stage;
  await waitUntil(async () => {
    await daemon.ensure();
    return !daemon.isWatching() && (await haveEnded(daemon));
  }, END_LIMIT_MS);
  await begin(stage, 'afterwards', () => daemon.submit('install', { package: 'afterwards' }));
  await waitUntil(() => haveEnded(daemon), END_LIMIT_MS);
  await readJobs(stage);
  // What it says of a job whose end it could not record is to be true.
  if (!jobs.some(({ status }) => status?.error?.includes(RESUMABLE) === true)) return;
  process.kill(daemon.pid(), 'SIGTERM');
  await waitUntil(() => !daemon.isUp(), 15_000);
  await daemon.ensure();
  await waitUntil(() => haveEnded(daemon), END_LIMIT_MS);
  await readJobs(stage);
}

const RESUMABLE = 'a restart of depotd may take it up again';

async function readJobs({ daemon, jobs }: Stage): Promise<void> {
  for (const job of jobs) {
    if (!('id' in job.answer)) continue;
    job.status = await daemon.status(job.answer.id);
    const path = `/cgi-bin/panel/admin/system/tasks/log?task_id=${job.answer.id}`;
    job.log = (await daemon.ask(path))?.text ?? '';
  }
}

/** Also those whose acceptance nobody heard of. */
async function haveEnded(daemon: SupervisedDaemon): Promise<boolean> {
  const all = await daemon.all();
  return all !== undefined && Object.values(all).every(({ running }) => !running);
}

function idOf(job: TryJob | undefined): string | undefined {
  return job !== undefined && 'id' in job.answer ? job.answer.id : undefined;
}

async function pointsOf(daemon: SupervisedDaemon): Promise<Record<string, string>> {
  const points: Record<string, string> = {};
  for (const { fired, point = '', fault = '', program } of await daemon.events()) {
    if (program !== undefined) points[fault] = `call of ${program}`;
    else if (fired !== undefined) points[fired] = point;
  }
  return points;
}
