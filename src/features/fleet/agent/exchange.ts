import { freeBytesOf } from '../../../device/disk/space.ts';
import { reasonOf } from '../../../errors.ts';
import { nowMs } from '../clock.ts';
import type { Poll } from '../ddi/schemas.ts';
import { handleCancel, handleConfirmation } from './consent.ts';
import { configData } from './config-data.ts';
import { handleDeployment } from './deployment.ts';
import { forgetful, type Fleet, type Server } from './fleet.ts';
import { adoptEndedJobs } from './jobs.ts';
import { areEndsOfItsActions, reportEnds } from './report.ts';

/**
 * One exchange with the server: first what it has to know, then a poll, then what that asks for.
 * Invariants:
 *  - exchanges follow one another;
 *  - an end is reported before the server is asked again, so that it does not offer what is over;
 *    but it is asked first after a failure, a start, or an end that it did not know, and if what
 *    has the id now is not that action: it may have been put back from a backup;
 *  - whatever fails is asked again in the next one.
 * @throws DepotError
 */
export async function exchange(fleet: Fleet, server: Server): Promise<void> {
  const { known } = fleet;
  // Another server or another name: nothing of what the one before said holds.
  if (known.from !== server.from) Object.assign(known, forgetful(), { from: server.from });
  await adoptEndedJobs(fleet);
  const isDoubted = mayHaveForgotten(fleet) || !(await areEndsOfItsActions(fleet, server));
  if (isDoubted) known.offered = undefined;
  else await reportEnds(fleet, server);
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
  // Only now: what could not be followed is asked for again as a whole.
  known.etag = answer === 'unchanged' ? known.etag : answer.etag;
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
}

async function follow(fleet: Fleet, server: Server): Promise<void> {
  const { known, log } = fleet;
  const { cancelAction, confirmationBase, deploymentBase, configData: wanted } = known.links;
  known.asking = undefined;
  if (cancelAction !== undefined) await handleCancel(fleet, server, cancelAction.href);
  else if (confirmationBase !== undefined) {
    await handleConfirmation(fleet, server, confirmationBase.href);
  } else if (deploymentBase !== undefined) {
    await handleDeployment(fleet, server, deploymentBase.href);
  } else known.offered = undefined;
  if (cancelAction === undefined) await forgetCanceled(fleet, server);
  if (wanted === undefined) return;
  const reception = await server.client.configure(await configData(fleet));
  if (reception !== 'accepted') log.warn({ reception }, 'fleet: the server refused configData');
  known.links = { ...known.links, configData: undefined };
}

/** The answer to a request to cancel has arrived though nobody saw that. */
async function forgetCanceled({ records }: Fleet, { from }: Server): Promise<void> {
  for (const { key, end, isCancelAsked, isReported, from: other } of records.all()) {
    const isOver = end?.result === 'canceled' && isCancelAsked && !isReported;
    if (isOver && other === from) await records.update(key, () => ({ isReported: true }));
  }
}

/** For the log and the status: one line. */
export function failureOf(error: unknown): string {
  return reasonOf(error)
    .replace(/\p{C}+/gu, ' ')
    .slice(0, 300);
}
