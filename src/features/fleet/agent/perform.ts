import { uptime } from 'node:os';
import { isEnded, unixNow } from '../../../jobs/job.ts';
import { OWN_PACKAGE } from '../../../package-management/names.ts';
import { run } from '../../../device/exec.ts';
import { isOpen, type ActionEnd, type ActionRecord } from '../records/action-record.ts';
import { decide, type Effect, type Heard, type State } from './decide.ts';
import { noticesOf, type Fleet, type Server } from './fleet.ts';
import { beginJob, jobOf, SELF_UPGRADE_JOB } from './action-jobs.ts';
import { notifyOnce, reportEnd } from './report.ts';
import { fetchFailureOf, startTransfer } from './transfer.ts';

/** Decides what is next of an action that is on record, and does it, one effect after the other. */
export async function act(
  fleet: Fleet,
  server: Server,
  { key, heard }: { key: string; heard: Heard },
): Promise<void> {
  const record = fleet.records.find(key);
  if (record === undefined) return;
  const effects = decide(await stateOf(fleet, record), heard);
  for (const effect of effects) {
    const now = fleet.records.find(key);
    if (now !== undefined) await perform({ fleet, server, record: now }, effect);
  }
}

async function stateOf(fleet: Fleet, record: ActionRecord): Promise<State> {
  const { known, records, queue, settings, processes } = fleet;
  const task = queue.all().find(({ id, state }) => id !== record.jobId && !isEnded(state));
  return {
    record,
    others: records.all().filter((other) => isOpen(other) && other.key !== record.key),
    job: jobOf(fleet, record),
    selfUpgrade: queue.all().findLast(({ kind }) => kind === SELF_UPGRADE_JOB),
    fetched: known.fetched,
    fetching: known.transfer?.key,
    fetchFailure: fetchFailureOf(known, record.key),
    confirm: settings().confirm,
    boot: { id: await processes.bootId(), upS: uptime() },
    otherTask: task === undefined ? undefined : `${task.kind} ${task.subject}`,
  };
}

/** What an effect is done with; the record as the effects before it left it. */
interface Deed {
  fleet: Fleet;
  server: Server;
  record: ActionRecord;
}

function perform<Kind extends Effect['do']>(deed: Deed, effect: EffectOf<Kind>): unknown {
  return DEEDS[effect.do](deed, effect);
}

type EffectOf<Kind extends Effect['do']> = Extract<Effect, { do: Kind }>;

const DEEDS: { [Kind in Effect['do']]: (deed: Deed, effect: EffectOf<Kind>) => unknown } = {
  change: ({ fleet, record }, { change }) => fleet.records.update(record.key, change),
  end: ({ fleet }, { key, end, isReported }) =>
    fleet.records.update(key, {
      end: { ...end, at: unixNow() },
      ...(isReported && { isReported }),
    }),
  fetch: ({ fleet, record }) => startTransfer(fleet, record, fleet.known.offered),
  'stop-fetching': ({ fleet }) => fleet.known.transfer?.controller.abort(),
  'begin-job': ({ fleet, record }) => beginJob(fleet, record),
  'stop-job': ({ fleet }, { id }) => fleet.queue.stop(id),
  'upgrade-depotd': ({ fleet }) => fleet.submit(SELF_UPGRADE_JOB, OWN_PACKAGE, {}),
  'restart-device': ({ fleet, server, record }) => restartDevice(fleet, server, record),
  'ask-owner': ({ fleet, record }) => void (fleet.known.asking = record.key),
  notify: ({ fleet, server, record }, effect) => notifyOnce(fleet, server, { record, ...effect }),
  'report-end': ({ fleet, server, record }) => reportEnd(fleet, server, record),
  'report-end-or-reject': async ({ fleet, server, record }, { id }) => {
    if (await reportEnd(fleet, server, record)) return;
    const details = [`it had ended before: ${record.end?.message ?? ''}`];
    await server.client.answerCancel(id, { execution: 'rejected', details });
  },
  confirm: async ({ fleet, server, record }, { consent, details }) => {
    const reception = await server.client.confirm(record.actionId, consent === 'given', details);
    if (reception === 'later') return;
    await fleet.records.update(record.key, { consent, isReported: consent === 'denied' });
  },
  'answer-cancel': async ({ fleet, server, record }, { id, feedback, isEnd }) => {
    const reception = await server.client.answerCancel(id, feedback);
    if (isEnd && reception !== 'later') {
      await fleet.records.update(record.key, { isReported: true });
    }
  },
};

/** Known by the server before: a device that has lost its record reads it there. */
export const RESTARTING = 'the device restarts now';
const COMMAND_MS = 30_000;

/**
 * Once for an action: before the command is run the server has taken that it does, and the action's
 * record has the boot that it is done in.
 */
async function restartDevice(
  fleet: Fleet,
  { client }: Server,
  record: ActionRecord,
): Promise<void> {
  const { records, known, processes, paths, scriptEnvironment, log } = fleet;
  const { key, actionId } = record;
  const fail = async (why: string): Promise<void> => {
    const message = `cannot restart the device: ${why}`;
    const end: ActionEnd = { result: 'failure', message, errorCode: 'unknown', at: unixNow() };
    await records.update(key, { end });
  };
  const { said } = noticesOf(known, record);
  if (!said.has(RESTARTING)) {
    const feedback = { execution: 'proceeding', details: [RESTARTING] } as const;
    const reception = await client.report(actionId, feedback);
    if (reception === 'later') return;
    if (reception !== 'accepted') {
      await fail(`the server does not take that it does, ${reception}`);
      return;
    }
    said.add(RESTARTING);
  }
  const restart = { boot: await processes.bootId(), atS: uptime() };
  await records.update(key, { restart });
  log.warn({ action: actionId }, 'fleet action restarts the device');
  const { exitCode, stderr } = await run(
    { argv: [paths.onDevice('/sbin/reboot')], environment: scriptEnvironment },
    { timeoutMs: COMMAND_MS, maxBytes: 4096 },
  );
  // A command of a restart that was ended by a signal may be the restart itself.
  if (exitCode !== undefined && exitCode !== 0) {
    await fail(`exit code ${exitCode} ${stderr.trim().slice(-200)}`.trim());
  }
}
