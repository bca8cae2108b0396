import { isEnded, type Job } from '../../../jobs/job.ts';
import type { Feedback } from '../ddi/feedback.ts';
import { hasBegun } from '../job/check-work.ts';
import { PROGRAM_STEPS } from '../job/fleet-job-tools.ts';
import { MOST_ATTEMPTS } from '../job/action-plan.ts';
import type { FleetSettings } from '../options.ts';
import type { ActionEnd, ActionRecord } from '../records/action-record.ts';
import { isLookOnly } from '../rollout/work.ts';
import type { Known, Urgency } from './fleet.ts';

/** What an action's next step is decided by. */
export interface State extends Pick<Known, 'fetched'> {
  record: ActionRecord;
  /** Other actions without an end. */
  others: readonly Pick<ActionRecord, 'key' | 'jobId' | 'actionId'>[];
  /** The job of its last attempt. */
  job: Job | undefined;
  /** The last job of depotd's own upgrade, whoever asked for it. */
  selfUpgrade: Job | undefined;
  /** The key of the action whose files are on their way. */
  fetching: string | undefined;
  /** Why its files did not come, and whether it is too early to try again. */
  fetchFailure: { reason: string; isTooEarly: boolean } | undefined;
  confirm: FleetSettings['confirm'];
  /** This boot, and the seconds since. */
  boot: { id: string; upS: number };
  /** A task that is not over, beside the action's own. */
  otherTask: string | undefined;
}

export type Heard =
  /** The server offers the action. */
  | { kind: 'deployment'; urgency: Urgency }
  /** The server offers it once it was agreed to. */
  | { kind: 'confirmation' }
  /** The server wants it to be given up. */
  | { kind: 'cancel' }
  /** A cancellation was tried, and the request `id` wants its answer. */
  | { kind: 'cancel-tried'; id: string }
  /** A job of the action may have ended. */
  | { kind: 'job' };

export type Effect =
  | { do: 'change'; change: Partial<ActionRecord> }
  /** The end of an action; `isReported` if the server is not to be sent it. */
  | { do: 'end'; key: string; end: Omit<ActionEnd, 'at'>; isReported?: boolean }
  | { do: 'fetch' }
  | { do: 'stop-fetching' }
  | { do: 'begin-job' }
  | { do: 'stop-job'; id: string }
  | { do: 'upgrade-depotd' }
  | { do: 'restart-device' }
  /** The device's owner may agree, or decline, until the server is asked again. */
  | { do: 'ask-owner' }
  /** Said once, whatever its words are then. */
  | { do: 'notify'; once: string; feedback: Feedback }
  | { do: 'report-end' }
  /** Reports the end after a request to cancel, which is refused if the server does not take it. */
  | { do: 'report-end-or-reject'; id: string }
  | { do: 'confirm'; consent: 'given' | 'denied'; details: string[] }
  /** `isEnd`: once it has arrived, the server has the action's end. */
  | { do: 'answer-cancel'; id: string; feedback: Feedback; isEnd: boolean };

/**
 * What is next of an action: pure, and asked anew in each exchange. An effect that fails is decided
 * again in the next one. Invariants:
 *  - one action at a time: none begins while another one has a job;
 *  - an action with an end is never begun, whatever is heard;
 *  - what was forced is done without consent, what may not be done is denied with it.
 */
export function decide(state: State, heard: Heard): Effect[] {
  switch (heard.kind) {
    case 'deployment':
      return decideOffer(state, heard.urgency);
    case 'confirmation':
      return decideConfirmation(state);
    case 'cancel':
      return decideCancel(state);
    case 'cancel-tried':
      return decideCancelAnswer(state, heard.id);
    case 'job':
      return decideJob(state);
  }
}

function decideOffer(state: State, urgency: Urgency): Effect[] {
  const { record, others } = state;
  if (record.end !== undefined) return [{ do: 'report-end' }];
  if (record.jobId !== undefined) return [];
  const busy = others.find(({ jobId }) => jobId !== undefined);
  if (busy !== undefined) {
    return [said('scheduled', `it waits for action ${busy.actionId}, which is still being done`)];
  }
  return [...others.flatMap((each) => replace(state, each)), ...decideBeginning(state, urgency)];
}

/** The server has offered another one instead, or has forgotten it. */
function replace({ fetching }: State, { key }: Pick<ActionRecord, 'key'>): Effect[] {
  const message = 'the server has offered another action instead';
  const end = { result: 'canceled', message, errorCode: 'stopped' } as const;
  const stop: Effect[] = fetching === key ? [{ do: 'stop-fetching' }] : [];
  return [...stop, { do: 'end', key, end, isReported: true }];
}

function decideBeginning(state: State, urgency: Urgency): Effect[] {
  const { record, fetched, fetching, confirm } = state;
  const { key, title, consent, work } = record;
  if (urgency.download === 'skip') return [];
  if (fetched !== key) return fetching === undefined ? decideFetch(state) : [];
  if (urgency.update === 'skip') return holdBack(key, urgency);
  // What is forced is not asked for: the operator has decided.
  if (confirm === 'ask' && urgency.update === 'attempt' && consent === undefined) {
    const notice = said('scheduled', 'it waits for the owner of the device, who is asked');
    return [{ do: 'ask-owner' }, notice];
  }
  if (consent === 'denied') {
    const message = 'the owner of the device has declined';
    return ended(key, { result: 'canceled', message, errorCode: 'stopped' });
  }
  if (work !== undefined && isLookOnly(work)) {
    return ended(key, { result: 'success', message: title, exitCode: 0 });
  }
  return [{ do: 'begin-job' }, said('proceeding', 'installing')];
}

/** The server is told once why files do not come: they may be tried for a day. */
function decideFetch({ fetchFailure, record }: State): Effect[] {
  if (fetchFailure === undefined) return [said('download', record.title), { do: 'fetch' }];
  const { reason, isTooEarly } = fetchFailure;
  const notice = said('proceeding', `it is tried again: ${reason}`, 'download failed');
  return isTooEarly ? [notice] : [notice, { do: 'fetch' }];
}

/**
 * Installing is not asked for. Ahead of a maintenance window the action goes on when that opens;
 * without one, downloading was all.
 */
function holdBack(key: string, { maintenanceWindow: window }: Urgency): Effect[] {
  const message = 'the files are here, and wait to be installed';
  if (window !== undefined) return [said('downloaded', message)];
  return ended(key, { result: 'downloaded', message });
}

function ended(key: string, end: Omit<ActionEnd, 'at'>): Effect[] {
  return [{ do: 'end', key, end }, { do: 'report-end' }];
}

function decideConfirmation({ record, confirm }: State): Effect[] {
  const { end, consent: answer, isReported } = record;
  // What may not be done is denied whoever would agree.
  const isRefused = end?.result === 'failure';
  const agreed = answer ?? (confirm === 'auto' ? 'given' : undefined);
  const consent = isRefused ? 'denied' : agreed;
  // Who has declined may agree as long as it is offered.
  const asked: Effect[] = isRefused || consent === 'given' ? [] : [{ do: 'ask-owner' }];
  // hawkBit goes on offering what was denied.
  const wasSaid = answer === 'denied' && isReported;
  if (consent === undefined || wasSaid) return asked;
  return [...asked, { do: 'confirm', consent, details: [end?.message ?? `consent ${consent}`] }];
}

/** What can be undone is stopped. A job ends in its own time; the exchange after that answers. */
function decideCancel({ record, job, fetching }: State): Effect[] {
  const { key, end } = record;
  const asked: Effect = { do: 'change', change: { isCancelAsked: true } };
  if (end !== undefined) return [asked];
  const effects: Effect[] = fetching === key ? [asked, { do: 'stop-fetching' }] : [asked];
  if (job === undefined) {
    const message = 'given up before it began';
    return [...effects, { do: 'end', key, end: { result: 'canceled', message } }];
  }
  const canStop = !isEnded(job.state) && (!hasChanged(job) || isAtProgram(job));
  return canStop ? [...effects, { do: 'stop-job', id: job.id }] : effects;
}

/** Whether anything of the action may have been done already. */
function hasChanged(job: Job): boolean {
  return job.phase === 'repair' || hasBegun(job);
}

/** What the operator's program does is not known, and so not in the way of a stop. */
function isAtProgram({ phase, at }: Job): boolean {
  return phase === 'steps' && at?.startsWith(PROGRAM_STEPS) === true;
}

function decideCancelAnswer({ record: { end }, job }: State, id: string): Effect[] {
  if (end === undefined) {
    // A job that is beyond its check goes on to its end, which is then the true one.
    if (job === undefined || job.stopRequested === true) return [];
    const details = ['it is being installed: its end will be reported'];
    const feedback = { execution: 'rejected', details } as const;
    return [{ do: 'answer-cancel', id, feedback, isEnd: false }];
  }
  if (end.result === 'canceled' || end.result === 'downloaded') {
    return [{ do: 'answer-cancel', id, feedback: canceled(end.message), isEnd: true }];
  }
  // The request to cancel came too late: what has happened counts, and the server takes it still.
  return [{ do: 'report-end-or-reject', id }];
}

export function canceled(message: string): Feedback {
  return { execution: 'closed', finished: 'success', details: [message] };
}

/** Puts on record what a job could not put there itself. */
function decideJob(state: State): Effect[] {
  const { record, job } = state;
  const { key, jobId, attempts, restart } = record;
  if (record.end !== undefined || attempts === 0) return [];
  if (restart !== undefined) return decideRestarted(state, restart);
  if (job === undefined) {
    // Without an id the action's job was never asked for.
    return jobId === undefined ? [] : [{ do: 'end', key, end: FORGOTTEN }];
  }
  const adopted: Effect[] =
    jobId === undefined ? [{ do: 'change', change: { jobId: job.id } }] : [];
  return isEnded(job.state) ? [...adopted, ...decideEnd(state, job)] : adopted;
}

function decideEnd({ record, selfUpgrade, otherTask }: State, job: Job): Effect[] {
  const { key, attempts, work, title } = record;
  if (job.state === 'done' && work?.reboot === true) {
    const waiting = said('scheduled', `to restart, it waits for ${otherTask ?? ''}`, 'restart');
    return [otherTask === undefined ? { do: 'restart-device' } : waiting];
  }
  if (job.state === 'done' && work?.selfUpgrade === true) {
    return followSelfUpgrade(record, selfUpgrade);
  }
  // The device went down before anything was done.
  const isRepeatable = job.state === 'interrupted' && !hasBegun(job);
  if (isRepeatable && attempts < MOST_ATTEMPTS) {
    return [{ do: 'change', change: { jobId: undefined, attempts: attempts + 1 } }];
  }
  return [{ do: 'end', key, end: endOf(job, title) }];
}

/** A device that is still up was not restarted, and is not again. */
const MOST_RESTART_S = 300;

/** The boot after the action's last one reports its end. */
function decideRestarted(
  { record: { key, title }, boot }: State,
  { boot: before, atS }: NonNullable<ActionRecord['restart']>,
): Effect[] {
  if (boot.id !== before) {
    const message = `${title}; the device has restarted`;
    return [{ do: 'end', key, end: { result: 'success', message, exitCode: 0 } }];
  }
  if (boot.upS - atS < MOST_RESTART_S) return [];
  const why = `it is still up after ${MOST_RESTART_S} s`;
  const message = `cannot restart the device: ${why}`;
  return [{ do: 'end', key, end: { result: 'failure', message, errorCode: 'unknown' } }];
}

/** A self-upgrade is the last thing that an action does; the daemon that sees its end is new. */
function followSelfUpgrade(
  { key, title, selfUpgradeAfter }: ActionRecord,
  upgrade: Job | undefined,
): Effect[] {
  const after = selfUpgradeAfter ?? upgrade?.id ?? '';
  const begun: Effect = { do: 'change', change: { selfUpgradeAfter: after } };
  if (upgrade === undefined || upgrade.id === after) return [begun, { do: 'upgrade-depotd' }];
  return isEnded(upgrade.state) ? [begun, { do: 'end', key, end: endOf(upgrade, title) }] : [begun];
}

const FORGOTTEN = {
  result: 'failure',
  message: 'cannot tell how the action ended: its task is not on record any more',
  errorCode: 'interrupted',
} as const;

function endOf({ state, error, errorCode, exitCode }: Job, title: string): Omit<ActionEnd, 'at'> {
  if (state === 'done') return { result: 'success', message: title, exitCode: 0 };
  const result = state === 'stopped' ? 'canceled' : 'failure';
  return { result, message: error ?? `the task ended as ${state}`, exitCode, errorCode };
}

function said(execution: Feedback['execution'], detail: string, once = detail): Effect {
  return { do: 'notify', once, feedback: { execution, details: [detail] } };
}
