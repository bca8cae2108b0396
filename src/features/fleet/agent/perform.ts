import { uptime } from 'node:os';
import { unixNow } from '../../../jobs/job.ts';
import { isEnded } from '../../../jobs/states.ts';
import { OWN_PACKAGE } from '../../../package-management/names.ts';
import { isOpen, type ActionRecord } from '../records/action-record.ts';
import { decide, type Effect, type Heard, type State } from './decide.ts';
import type { Fleet, Server } from './fleet.ts';
import { beginJob, jobOf, SELF_UPGRADE_JOB } from './jobs.ts';
import { notifyOnce, reportEnd } from './report.ts';
import { restartDevice } from './restart.ts';
import { fetchFailureOf, startTransfer } from './transfer.ts';

/** Decides what is next of an action that is on record, and does it, one effect after the other. */
export async function act(
  fleet: Fleet,
  server: Server,
  { key, heard }: { key: string; heard: Heard },
): Promise<void> {
  const record = fleet.records.find(key);
  if (record === undefined) return;
  const { state, effects } = decide(await stateOf(fleet, record), heard);
  fleet.known.asking = state.asking;
  for (const effect of effects) await perform(fleet, server, { key, effect });
}

async function stateOf(fleet: Fleet, record: ActionRecord): Promise<State> {
  const { known, records, queue, settings, processes } = fleet;
  const task = queue.all().find(({ id, state }) => id !== record.jobId && !isEnded(state));
  return {
    record,
    others: records.all().filter((other) => isOpen(other) && other.key !== record.key),
    job: jobOf(fleet, record),
    selfUpgrade: queue.all().findLast(({ kind }) => kind === SELF_UPGRADE_JOB),
    asking: known.asking,
    fetched: known.fetched,
    fetching: known.transfer?.key,
    fetchFailure: fetchFailureOf(known, record.key),
    confirm: settings().confirm,
    boot: { id: await processes.bootId(), upS: uptime() },
    otherTask: task === undefined ? undefined : `${task.kind} ${task.subject}`,
  };
}

async function perform(
  fleet: Fleet,
  server: Server,
  { key, effect }: { key: string; effect: Effect },
): Promise<void> {
  const { records, known, queue, submit } = fleet;
  const record = records.find(key);
  if (record === undefined) return;
  switch (effect.do) {
    case 'change':
      await records.update(key, () => effect.change);
      break;
    case 'end': {
      const end = { ...effect.end, at: unixNow() };
      const isReported = effect.isReported ?? false;
      await records.update(effect.key, (before) => ({
        end,
        isReported: before.isReported || isReported,
      }));
      break;
    }
    case 'fetch':
      startTransfer(fleet, record, known.offered);
      break;
    case 'stop-fetching':
      known.transfer?.controller.abort();
      break;
    case 'begin-job':
      await beginJob(fleet, record);
      break;
    case 'stop-job':
      await queue.stop(effect.id);
      break;
    case 'upgrade-depotd':
      await submit(SELF_UPGRADE_JOB, OWN_PACKAGE, {});
      break;
    case 'restart-device':
      await restartDevice(fleet, server, record);
      break;
    default:
      await say(fleet, server, { record, effect });
  }
}

type Words = Extract<
  Effect,
  { do: 'notify' | 'report-end' | 'report-end-or-reject' | 'confirm' | 'answer-cancel' }
>;

/** What the server is told. */
async function say(
  fleet: Fleet,
  server: Server,
  { record, effect }: { record: ActionRecord; effect: Words },
): Promise<void> {
  const { records } = fleet;
  const { client } = server;
  const { key, actionId, end } = record;
  switch (effect.do) {
    case 'notify':
      await notifyOnce(fleet, server, { record, ...effect });
      break;
    case 'report-end':
      await reportEnd(fleet, server, record);
      break;
    case 'report-end-or-reject': {
      if (await reportEnd(fleet, server, record)) return;
      const details = [`it had ended before: ${end?.message ?? ''}`];
      await client.answerCancel(effect.id, { execution: 'rejected', finished: 'none', details });
      break;
    }
    case 'confirm': {
      const { consent, details } = effect;
      const reception = await client.confirm(actionId, consent === 'given', details);
      if (reception === 'later') return;
      await records.update(key, () => ({ consent, isReported: consent === 'denied' }));
      break;
    }
    case 'answer-cancel': {
      const reception = await client.answerCancel(effect.id, effect.feedback);
      if (effect.isEnd && reception !== 'later') {
        await records.update(key, () => ({ isReported: true }));
      }
    }
  }
}
