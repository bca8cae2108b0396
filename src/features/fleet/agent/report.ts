import { stripVTControlCharacters } from 'node:util';
import { reasonOf } from '../../../errors.ts';
import type { Reception } from '../ddi/ddi-client.ts';
import type { Feedback } from '../ddi/feedback.ts';
import type { ActionEnd, ActionRecord } from '../records/action-record.ts';
import { actionKey } from '../rollout/action-key.ts';
import { sendCollected } from './send-collected.ts';
import { noticesOf, type Fleet, type Server } from './fleet.ts';

/** A notice on the way to the end, lost if the server does not take it: no action waits for one. */
export async function notify(
  fleet: Fleet,
  { client }: Server,
  { record, feedback }: { record: ActionRecord; feedback: Feedback },
): Promise<void> {
  const { log, known } = fleet;
  try {
    count(fleet, await client.report(record.actionId, feedback));
  } catch (error) {
    log.info({ action: record.actionId, reason: reasonOf(error) }, 'fleet notice not sent');
  }
  noticesOf(known, record).posts += 1;
}

/** The same, once while the daemon runs. */
export async function notifyOnce(
  fleet: Fleet,
  server: Server,
  notice: { record: ActionRecord; feedback: Feedback; once: string },
): Promise<void> {
  const { said } = noticesOf(fleet.known, notice.record);
  if (said.has(notice.once)) return;
  said.add(notice.once);
  await notify(fleet, server, notice);
}

/** Sends each end that the server lacks, unless its id is a later action's: it would end that. */
export async function reportEnds(fleet: Fleet, server: Server): Promise<void> {
  const all = fleet.records.all();
  for (const record of dueEnds(fleet, server)) {
    const { key, actionId, from } = record;
    const isForgotten = all
      .slice(all.indexOf(record) + 1)
      .some((later) => later.from === from && later.actionId === actionId);
    if (isForgotten) await fleet.records.update(key, { isReported: true });
    else await reportEnd(fleet, server, record);
  }
}

/**
 * Whether the server still has the actions that it is to be sent an end of. The id alone does not
 * say so: a server that was put back from a backup meanwhile may have given it to another one.
 */
export async function areEndsOfItsActions(fleet: Fleet, server: Server): Promise<boolean> {
  const { offered } = fleet.known;
  for (const { key } of dueEnds(fleet, server)) {
    if (offered?.key !== key) return false;
    const behind = await server.client.deployment(offered.href).then(
      ({ id, deployment }) => actionKey(server.address, id, deployment.chunks),
      () => undefined,
    );
    if (behind !== key) return false;
  }
  return true;
}

/** A canceled action's end is in the answer to the request, and the server does not take both. */
function dueEnds({ records }: Fleet, server: Server): ActionRecord[] {
  return records
    .all()
    .filter(
      ({ end, from, isReported, isCancelAsked }) =>
        end !== undefined &&
        !isReported &&
        from === server.from &&
        !(end.result === 'canceled' && isCancelAsked),
    );
}

/** How often an end is sent to a server that does not know the action. */
const MOST_UNKNOWN_REPORTS = 5;

/** @returns whether the server has it, or will never take it */
export async function reportEnd(
  fleet: Fleet,
  { client }: Server,
  record: ActionRecord,
): Promise<boolean> {
  const { records, log } = fleet;
  const { key, actionId, end } = record;
  if (end === undefined || !(await sendCollected(fleet, client, record))) return false;
  const feedback = await feedbackOf(fleet, record, end);
  let reception = await client.report(actionId, feedback);
  // Whatever it dislikes is in the details.
  if (reception === 'refused') {
    reception = await client.report(actionId, { ...feedback, details: [] });
  }
  count(fleet, reception);
  if (reception === 'ended') fleet.known.endedBefore = actionId;
  if (reception === 'later') return false;
  const unknownReports = record.unknownReports + (reception === 'unknown' ? 1 : 0);
  const isReported = reception !== 'unknown' || unknownReports >= MOST_UNKNOWN_REPORTS;
  await records.update(key, { isReported, unknownReports });
  const fields = { action: actionId, result: end.result, reception };
  if (reception === 'accepted') log.info(fields, 'fleet action reported');
  else log.warn(fields, 'fleet action: the server does not take its end');
  return isReported;
}

function count({ known: { counts } }: Fleet, reception: Reception): void {
  counts.reports.set(reception, (counts.reports.get(reception) ?? 0) + 1);
}

async function feedbackOf(
  fleet: Fleet,
  record: ActionRecord,
  { result, message, errorCode, exitCode }: ActionEnd,
): Promise<Feedback> {
  if (result === 'downloaded') {
    return { execution: 'downloaded', details: [message] };
  }
  const { jobId, work } = record;
  const hasProgram = work?.files.some(({ kind }) => kind === 'program') === true;
  const isSilent = result === 'success' && !hasProgram;
  const lines = isSilent || jobId === undefined ? [] : await lastLines(fleet, jobId);
  return {
    execution: 'closed',
    finished: result === 'success' ? 'success' : 'failure',
    code: exitCode,
    details: [
      ...lines,
      ...(result === 'success' ? (record.diff ?? []) : []),
      ...(jobId === undefined ? [] : [`task ${jobId}`]),
      ...(errorCode === undefined ? [] : [`error_code ${errorCode}`]),
      message,
    ],
  };
}

const LOG_TAIL_BYTES = 4096;
const MOST_LINES = 20;

/** The end of a job's log, without what a terminal would do. */
export async function lastLines({ logs }: Pick<Fleet, 'logs'>, jobId: string): Promise<string[]> {
  const size = (await logs.size(jobId)) ?? 0;
  const from = Math.max(0, size - LOG_TAIL_BYTES);
  const text =
    size === 0 ? '' : (await logs.read(jobId, from, size - from).catch(() => '')).toString();
  const plain = stripVTControlCharacters(text).replace(/[^\P{Cc}\r\n]+/gu, ' ');
  const lines = plain.split(/[\r\n]+/).map((line) => line.trim());
  // The part of the log may begin within a line, even within a character.
  if (from > 0 && lines.length > 1) lines.shift();
  return lines.filter((line) => line !== '').slice(-MOST_LINES);
}
