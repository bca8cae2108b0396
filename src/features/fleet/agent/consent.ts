import type { Feedback } from '../ddi/feedback.ts';
import { offeredAt } from './deployment.ts';
import type { Fleet, Server } from './fleet.ts';
import { adoptEndedJobs, hasChanged, jobOf } from './jobs.ts';
import { reportEnd } from './report.ts';
import { actionOfLink } from '../ddi/links.ts';
import { unixNow } from '../../../jobs/job.ts';
import { isEnded } from '../../../jobs/states.ts';
import type { ActionRecord } from '../records/action-record.ts';

/** An action that the server offers once it was agreed to. */
export async function handleConfirmation(
  fleet: Fleet,
  server: Server,
  href: string,
): Promise<void> {
  const { records, known, settings } = fleet;
  const { key } = await offeredAt(fleet, server, {
    kind: 'confirmationBase',
    href,
    ask: () => server.client.confirmation(href),
  });
  const record = records.find(key);
  if (record === undefined) return;
  const consent = consentOf(record, settings().confirm);
  if (consent === undefined) {
    known.asking = { key, by: 'confirmation' };
    return;
  }
  // hawkBit goes on offering what was denied.
  const said = consent === 'given' ? 'given' : record.consent;
  if (said === 'denied' && record.isReported) return;
  const details = [record.end?.message ?? `consent ${consent}`];
  const reception = await server.client.confirm(record.actionId, consent === 'given', details);
  if (reception === 'later') return;
  await records.update(key, () => ({ consent, isReported: consent === 'denied' }));
}

/** What may not be done is denied whoever would agree. */
function consentOf({ end, consent }: ActionRecord, confirm: string): ActionRecord['consent'] {
  if (end?.result === 'failure') return 'denied';
  return consent ?? (confirm === 'auto' ? 'given' : undefined);
}

/** The server wants an action to be given up: done as long as it can be undone. */
export async function handleCancel(fleet: Fleet, server: Server, href: string): Promise<void> {
  const { records, client } = { records: fleet.records, client: server.client };
  const id = actionOfLink('cancelAction', href);
  const { stopId } = await client.cancel(href);
  const all = records.all().filter((record) => record.actionId === stopId);
  const own = all.filter(({ from }) => from === server.from);
  const found = own.find(({ end }) => end === undefined) ?? own.at(-1);
  if (found === undefined) {
    await client.answerCancel(id, canceled('nothing of it had begun'));
    return;
  }
  await records.update(found.key, () => ({ isCancelAsked: true }));
  await giveUp(fleet, found);
  await adoptEndedJobs(fleet);
  const record = records.find(found.key) ?? found;
  if (record.end === undefined) await answerOpen(fleet, server, { id, record });
  else await answerEnded(fleet, server, { id, record });
}

function canceled(message: string): Feedback {
  return { execution: 'closed', finished: 'success', details: [message] };
}

/** Stops what can be undone. A job ends in its own time; the exchange after that answers. */
async function giveUp(fleet: Fleet, record: ActionRecord): Promise<void> {
  const { known, queue, records } = fleet;
  if (record.end !== undefined) return;
  if (known.transfer?.key === record.key) known.transfer.controller.abort();
  const job = jobOf(fleet, record);
  if (job === undefined) {
    await records.update(record.key, () => ({
      end: { result: 'canceled', message: 'given up before it began', at: unixNow() },
    }));
  } else if (!isEnded(job.state) && !hasChanged(job)) await queue.stop(job.id);
}

interface Question {
  id: string;
  record: ActionRecord;
}

/** A job that is beyond its check goes on to its end, which is then the true one. */
async function answerOpen(fleet: Fleet, { client }: Server, question: Question): Promise<void> {
  const { id, record } = question;
  const job = jobOf(fleet, record);
  if (job === undefined || job.stopRequested === true) return;
  const message = 'it is being installed: its end will be reported';
  await client.answerCancel(id, { execution: 'rejected', finished: 'none', details: [message] });
}

async function answerEnded(fleet: Fleet, server: Server, { id, record }: Question): Promise<void> {
  const { end } = record;
  if (end?.result === 'canceled' || end?.result === 'downloaded') {
    const reception = await server.client.answerCancel(id, canceled(end.message));
    if (reception !== 'later') await fleet.records.update(record.key, () => ({ isReported: true }));
    return;
  }
  // It came too late: what has happened counts, and the server takes it still.
  if (await reportEnd(fleet, server, record)) return;
  const message = `it had ended before: ${end?.message ?? ''}`;
  const feedback: Feedback = { execution: 'rejected', finished: 'none', details: [message] };
  await server.client.answerCancel(id, feedback);
}
