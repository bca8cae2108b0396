import { freeBytesOf } from '../../../device/disk/space.ts';
import { reasonOf } from '../../../errors.ts';
import { failureFacts } from '../../../jobs/explanation.ts';
import { nowMs } from '../clock.ts';
import { LEAST_INTERVAL_S } from '../schedule.ts';
import { actionOfLink } from '../ddi/links.ts';
import type { Poll } from '../ddi/ddi-schemas.ts';
import { sendAttributes } from './attributes.ts';
import { canceled } from './decide.ts';
import { offeredAt } from './deployment.ts';
import type { Fleet, Server } from './fleet.ts';
import { jobOf } from './action-jobs.ts';
import { act } from './perform.ts';
import { areEndsOfItsActions, reportEnds } from './report.ts';

/**
 * One exchange with the server: first what it has to know, then a poll, then what that asks for.
 * What is woken shortly behind a poll goes by what that said.
 * Invariants:
 *  - exchanges follow one another;
 *  - an end is reported before the server is asked again, so that it does not offer what is over;
 *    but it is asked first after a failure, a start, or an end that it did not know, and if what
 *    has the id now is not that action: it may have been put back from a backup;
 *  - whatever fails is asked again in the next one.
 * @throws DepotError
 */
export async function exchange(fleet: Fleet, server: Server, isPollDue: boolean): Promise<void> {
  const { known } = fleet;
  // Another server or another name: nothing of what the one before said holds.
  if (known.from !== server.from) {
    const nothing = { links: {}, etag: undefined, offered: undefined, asking: undefined };
    Object.assign(known, nothing, { from: server.from });
  }
  await adoptEndedJobs(fleet, server);
  const isDoubted = mayHaveForgotten(fleet) || !(await areEndsOfItsActions(fleet, server));
  if (isDoubted) known.offered = undefined;
  else await reportEnds(fleet, server);
  if (!isPollDue && !isDoubted && isFresh(fleet)) {
    if (!isOfferOver(fleet)) await follow(fleet, server);
    return;
  }
  const answer = await server.client.poll(known.etag);
  known.polledMs = nowMs();
  known.freeBytes = await freeBytesOf(fleet.paths.root);
  if (answer === 'unchanged') known.counts.polls.unchanged += 1;
  else {
    known.counts.polls.ok += 1;
    remember(fleet, answer.poll);
  }
  await follow(fleet, server);
  if (isDoubted) await reportEnds(fleet, server);
  // Kept only now: if following the links failed, the next poll gets the whole answer again.
  known.etag = answer === 'unchanged' ? known.etag : answer.etag;
}

/** Whether the last poll offered an action to be done, and is as young as two polls may be. */
function isFresh({ known: { polledMs = -Infinity, links } }: Fleet): boolean {
  const { deploymentBase, cancelAction, confirmationBase } = links;
  const isOffer = cancelAction === undefined && confirmationBase === undefined;
  return deploymentBase !== undefined && isOffer && nowMs() - polledMs < LEAST_INTERVAL_S * 1000;
}

function isOfferOver({ known: { offered }, records }: Fleet): boolean {
  return offered === undefined || records.find(offered.key)?.end !== undefined;
}

/** Whether what the server said before may hold no more. */
function mayHaveForgotten({ known: { polledMs, failures }, records }: Fleet): boolean {
  const isUnknown = records
    .all()
    .some(({ unknownReports, isReported }) => unknownReports > 0 && !isReported);
  return polledMs === undefined || failures > 0 || isUnknown;
}

function remember({ known }: Fleet, { config, _links: links = {} }: Poll): void {
  known.intervalS = config?.polling?.sleep ?? known.intervalS;
  known.links = links;
  // The tag belongs to the former links, which are dropped: a 304 must not stand for them.
  known.etag = undefined;
}

async function follow(fleet: Fleet, server: Server): Promise<void> {
  const { known } = fleet;
  const { cancelAction, confirmationBase, deploymentBase, configData: wanted } = known.links;
  known.asking = undefined;
  if (cancelAction !== undefined) await handleCancel(fleet, server, cancelAction.href);
  else if (confirmationBase !== undefined) {
    const offer = { kind: 'confirmationBase', ...confirmationBase } as const;
    const { key } = await offeredAt(fleet, server, offer);
    await act(fleet, server, { key, heard: { kind: 'confirmation' } });
  } else if (deploymentBase !== undefined) {
    const { href } = deploymentBase;
    try {
      const offered = await offeredAt(fleet, server, { kind: 'deploymentBase', href });
      const heard = { kind: 'deployment', urgency: offered } as const;
      await act(fleet, server, { key: offered.key, heard });
    } catch (error) {
      await reportFullDisk(fleet, server, { id: actionOfLink('deploymentBase', href), error });
      throw error;
    }
  } else known.offered = undefined;
  if (cancelAction === undefined) await forgetCanceled(fleet, server);
  await sendAttributes(fleet, server, wanted !== undefined);
  known.links = { ...known.links, configData: undefined };
}

/**
 * What a full flash cannot put on record is not begun, and the server is sent its end at once, or
 * the device would be silent. One that has a job already is not over.
 */
async function reportFullDisk(
  { records, queue }: Fleet,
  { client, from }: Server,
  { id, error }: { id: string; error: unknown },
): Promise<void> {
  const { error: message, errorCode } = failureFacts(error);
  const record = records.all().findLast((each) => each.actionId === id && each.from === from);
  const hasJob = record !== undefined && (record.end ?? jobOf({ queue }, record)) !== undefined;
  if (errorCode !== 'no_space' || hasJob) return;
  const details = [`error_code ${errorCode}`, `cannot put the action on record: ${message}`];
  await client.report(id, { execution: 'closed', finished: 'failure', details });
}

/** The server wants an action to be given up: done as long as it can be undone. */
async function handleCancel(fleet: Fleet, server: Server, href: string): Promise<void> {
  const { client, from } = server;
  const id = actionOfLink('cancelAction', href);
  const { stopId } = await client.cancel(href);
  const own = fleet.records.all().filter((each) => each.actionId === stopId && each.from === from);
  const found = own.find(({ end }) => end === undefined) ?? own.at(-1);
  if (found === undefined) {
    await client.answerCancel(id, canceled('nothing of it had begun'));
    return;
  }
  const { key } = found;
  await act(fleet, server, { key, heard: { kind: 'cancel' } });
  await adoptEndedJobs(fleet, server);
  await act(fleet, server, { key, heard: { kind: 'cancel-tried', id } });
}

async function adoptEndedJobs(fleet: Fleet, server: Server): Promise<void> {
  for (const { key, end } of fleet.records.all()) {
    if (end === undefined) await act(fleet, server, { key, heard: { kind: 'job' } });
  }
}

/** The answer to a request to cancel has arrived though nobody saw that. */
async function forgetCanceled({ records }: Fleet, { from }: Server): Promise<void> {
  for (const { key, end, isCancelAsked, isReported, from: other } of records.all()) {
    const isOver = end?.result === 'canceled' && isCancelAsked && !isReported;
    if (isOver && other === from) await records.update(key, { isReported: true });
  }
}

/** For the log and the status: one line. */
export function failureOf(error: unknown): string {
  return reasonOf(error)
    .replace(/\p{C}+/gu, ' ')
    .slice(0, 300);
}
