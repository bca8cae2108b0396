import type { TryJob } from './attempt.ts';
import type { Bench } from './bench.ts';
import { isHarmless, losesUploads, mayLoseLog, type Fault } from './faults.ts';
import { NUMBERED_LINES } from './packages.ts';
import { processesOfRoot } from './process-scan.ts';
import type { Scenario } from './scenarios.ts';
import { waitUntil, type SupervisedDaemon } from './supervised-daemon.ts';

/** A try that is over, all faults taken back. */
export interface FinishedTry {
  bench: Bench;
  scenario: Scenario;
  faults: readonly Fault[];
  daemon: SupervisedDaemon;
  jobs: readonly TryJob[];
}

/**
 * What does not hold after a try, seen from outside:
 *  - every job that was accepted is known and has ended, with exit code 0 exactly when it is done;
 *  - what a job says of itself, the package database and the files agree, and nothing is half
 *    installed;
 *  - a task log has every line that was printed, once and in order;
 *  - no process of a job outlives it, and none ever ran beside one of another job of its lane;
 *  - a job that was refused did not run; the next job runs well; the daemon answers.
 */
export async function judge(finished: FinishedTry): Promise<string[]> {
  const { bench, daemon, jobs, scenario } = finished;
  const [main] = jobs;
  const problems = [
    ...daemon.findings,
    ...jobs.flatMap((job) => problemsOfState(job)),
    ...(await problemsOfProcesses(finished)),
    ...(await problemsOfDatabase(bench)),
    ...(await problemsOfAnswers(daemon)),
    ...problemsOfHarmless(finished),
    ...problemsOfCrash(finished),
  ];
  for (const line of await bench.lines('overlaps')) problems.push(`a lane is freed early: ${line}`);
  if (main?.status !== undefined) {
    const { state, error = '' } = main.status;
    const hasLostUploads = finished.faults.some(losesUploads);
    const outcome = { state, error, log: main.log, hasLostUploads };
    problems.push(...(await scenario.judge(bench, outcome)));
    if (!finished.faults.some(mayLoseLog)) problems.push(...problemsOfLog(outcome));
  }
  return [...problems, ...(await problemsOfOthers(finished))];
}

function problemsOfState({ name, answer, status }: TryJob): string[] {
  if (!('id' in answer)) return [];
  if (status === undefined) return [`the ${name} job is not known any more`];
  if (status.running || status.stop === undefined) return [`the ${name} job does not end`];
  return (status.exit_code === 0) === (status.state === 'done')
    ? []
    : [`the ${name} job is ${status.state} with exit code ${String(status.exit_code)}`];
}

async function problemsOfProcesses({ bench }: FinishedTry): Promise<string[]> {
  // A holder ends just after its exit file is there.
  await waitUntil(async () => (await processesOfRoot(bench.device.root)).length === 0, 3000);
  const left = await processesOfRoot(bench.device.root);
  return left.length === 0 ? [] : [`processes ${left.join(', ')} outlive their jobs`];
}

async function problemsOfDatabase(bench: Bench): Promise<string[]> {
  const half = [...(await bench.device.database())]
    .filter(([, { state }]) => state !== 'installed' && state !== 'not-installed')
    .map(([name, { state }]) => `${name} (${state})`);
  return half.length === 0 ? [] : [`half installed: ${half.join(', ')}`];
}

/** What depends on no job. */
const READS = [
  '/healthz',
  '/metrics',
  '/cgi-bin/panel/openapi.json',
  '/cgi-bin/panel/admin/store/installed',
  '/cgi-bin/panel/admin/store/run_records',
  '/cgi-bin/panel/admin/system/tasks/status',
];

async function problemsOfAnswers(daemon: SupervisedDaemon): Promise<string[]> {
  const problems: string[] = [];
  for (const path of READS) {
    const answer = await daemon.ask(path);
    // A record that was damaged is told there.
    const isGood = answer?.status === 200 || (path === '/healthz' && answer?.status === 503);
    if (!isGood) problems.push(`${path} answers ${answer?.status ?? 'nothing'}`);
  }
  return problems;
}

/** A daemon that only ends and comes back does not make a job fail. */
function problemsOfHarmless({ faults, jobs, scenario }: FinishedTry): string[] {
  const ends = faults.filter(({ name }) => name === 'kill' || name === 'term').length;
  if (!faults.every(isHarmless) || ends > 2) return [];
  return jobs
    .filter(({ status }) => status !== undefined && status.state !== 'done')
    .filter(({ name }) => name !== 'main' || scenario.store !== 'ends at once')
    .map(
      ({ name, status }) =>
        `the ${name} job is ${status?.state ?? ''} for nothing: ${status?.error ?? ''}`,
    );
}

/** It ends when it is told to, and not by itself. */
function problemsOfCrash({ daemon, faults, scenario }: FinishedTry): string[] {
  const ends = faults.filter(({ name }) => ['kill', 'term', 'damage', 'power cut'].includes(name));
  const crash = daemon.log.findIndex((line) => !line.startsWith('{') && line.includes('Error'));
  if (crash !== -1) {
    return [`the daemon broke: ${daemon.log.slice(crash - 4, crash + 16).join('\n')}`];
  }
  if (scenario.supervision?.isPackage === true) return [];
  return daemon.starts() > ends.length + 1 + faults.length
    ? [`the daemon was started ${daemon.starts()} times for ${ends.length} ends`]
    : [];
}

/**
 * Each script prints 1, 2, 3 …: every run of one counts from 1 without a gap. What the daemon itself
 * says of a failure repeats the last of these lines.
 */
function problemsOfLog({ state, log }: { state: string; log: string }): string[] {
  const problems: string[] = [];
  const printed = log
    .split('\n')
    .filter((line) => !line.startsWith('depotd: '))
    .join('\n');
  for (const label of ['postinst', 'prerm', 'autoconf', 'run']) {
    const numbers = Array.from(
      printed.matchAll(new RegExp(`numbered ${label} (\\d+)`, 'g')),
      (match) => Number(match[1]),
    );
    const gap = numbers.findIndex(
      (number, index) => number !== 1 && number !== (numbers[index - 1] ?? 0) + 1,
    );
    if (gap !== -1) {
      problems.push(`the log jumps from ${label} ${numbers[gap - 1] ?? 0} to ${numbers[gap] ?? 0}`);
    }
    if (state === 'done' && numbers.length > 0 && numbers.at(-1) !== NUMBERED_LINES) {
      problems.push(`done, but the log ends at ${label} ${numbers.at(-1) ?? 0}`);
    }
  }
  return problems;
}

async function problemsOfOthers({ bench, jobs }: FinishedTry): Promise<string[]> {
  const database = await bench.device.database();
  const problems: string[] = [];
  for (const job of jobs.slice(1)) {
    // Nobody heard whether it was accepted.
    if ('refused' in job.answer && job.answer.refused.startsWith('no answer')) continue;
    const isThere = database.get(job.name)?.state === 'installed';
    if (isThere !== (job.status?.state === 'done')) {
      problems.push(`${statusLineOf(job)}, and its package is ${isThere ? '' : 'not '}there`);
    }
  }
  const last = jobs.at(-1);
  if (last !== undefined && last.status?.state !== 'done') {
    problems.push(`the device does not go on: ${statusLineOf(last)}`);
  }
  return problems;
}

function statusLineOf({ name, answer, status }: TryJob): string {
  if ('refused' in answer) return `the ${name} job was refused (${answer.refused})`;
  return `the ${name} job was ${status?.state ?? 'forgotten'} (${status?.error ?? ''})`;
}
