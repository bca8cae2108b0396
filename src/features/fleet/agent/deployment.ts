import { DepotError } from '../../../errors.ts';
import { failureFacts } from '../../../jobs/explanation.ts';
import { unixNow } from '../../../jobs/job.ts';
import type { OfferedAction } from '../ddi/ddi-client.ts';
import { actionOfLink } from '../ddi/links.ts';
import type { Chunk, Deployment } from '../ddi/ddi-schemas.ts';
import { isOpen, type ActionEnd } from '../records/action-record.ts';
import { actionKey } from '../rollout/action-key.ts';
import { checkAllowed, checkPlanSignatures, readVerificationKey } from '../rollout/permission.ts';
import { readWork, titleOf } from '../rollout/read-work.ts';
import type { Work } from '../rollout/work.ts';
import type { Fleet, Offered, Server } from './fleet.ts';
import { RESTARTING } from './perform.ts';
import { checkSizes } from './transfer.ts';

/**
 * Asked for once for each link: hawkBit notes each time that it was. An action that is offered
 * though it has an end, which may have come in this exchange, is looked at again: it may be another
 * one by the same link, or the server has forgotten.
 */
export async function offeredAt(
  fleet: Fleet,
  server: Server,
  { kind, href }: Pick<Offer, 'kind'> & { href: string },
): Promise<Offered> {
  const { known, records } = fleet;
  const { offered } = known;
  const record = offered?.href === href ? records.find(offered.key) : undefined;
  if (offered !== undefined && record !== undefined && isOpen(record)) return offered;
  const wanted = actionOfLink(kind, href);
  if (offered?.href.includes(`/${kind}/${wanted}?`) === true && canBeNoOther(fleet, offered)) {
    return (known.offered = { ...offered, href });
  }
  const action = await (kind === 'deploymentBase'
    ? server.client.deployment(href)
    : server.client.confirmation(href));
  const { id } = action;
  if (id !== wanted) {
    throw new DepotError('bad_request', `cannot do the action ${wanted}: the answer is of ${id}`);
  }
  const { chunks, download, update, maintenanceWindow: window } = action.deployment;
  const key = actionKey(server.address, id, chunks);
  await recordAction(fleet, server, { ...action, kind, key });
  const urgency = { download, update, ...(window && { maintenanceWindow: window }) };
  return (known.offered = { href, key, ...urgency, sources: sourcesOf(chunks) });
}

/**
 * hawkBit's link changes with each word on the action. What is forced stays so, and what has begun
 * goes on; only what waits for a time, a window or its owner may be another thing now.
 */
function canBeNoOther({ settings, records }: Fleet, { key, download, update }: Offered): boolean {
  const { jobId, end } = records.find(key) ?? { end: 'forgotten' };
  if (end !== undefined) return false;
  const isAsked = update === 'attempt' && settings().confirm === 'ask';
  return jobId !== undefined || (download !== 'skip' && update !== 'skip' && !isAsked);
}

function sourcesOf(chunks: readonly Chunk[]): Map<string, string> {
  return new Map(
    chunks.flatMap(({ artifacts }) =>
      artifacts.flatMap(({ hashes: { sha256 }, _links: links }) => {
        const link = links.download ?? links['download-http'];
        return link === undefined || sha256 === undefined ? [] : [[sha256, link.href] as const];
      }),
    ),
  );
}

interface Offer extends OfferedAction {
  kind: 'confirmationBase' | 'deploymentBase';
  key: string;
}

/** On record before anything of it begins. One that is over stays so, whatever is offered. */
async function recordAction(
  fleet: Fleet,
  { from }: Server,
  { kind, key, id, deployment, history = [] }: Offer,
): Promise<void> {
  const { records, log } = fleet;
  const record = records.find(key);
  if (record !== undefined) {
    if (record.end === undefined || !record.isReported) return;
    // hawkBit goes on asking for consent to what was denied.
    if (kind === 'confirmationBase' && record.consent === 'denied') return;
    // The server was put back from a backup, say, and has forgotten.
    log.info({ action: id }, 'fleet action offered again: its end is reported again');
    await records.update(key, { isReported: false, unknownReports: 0 });
    return;
  }
  const highest = records.forgottenUpTo({ from, actionId: id });
  const judged =
    highest === undefined
      ? await judge(fleet, deployment, history)
      : { end: mayHaveBeenDone(id, highest) };
  const title = titleOf(deployment.chunks);
  const begun = { createdAt: unixNow(), attempts: 0, isReported: false };
  await records.add({ key, from, actionId: id, title, ...begun, ...judged });
  log.info({ action: id, title }, 'fleet action offered');
}

/** Whether an action may be done already: nobody knows, so that it is not begun. */
function mayHaveBeenDone(id: string, highest: string): ActionEnd {
  const message =
    `cannot do the action ${id}: it may have been done already; this device has no record ` +
    `of its actions up to ${highest} any more; assign it anew`;
  return { result: 'failure', message, errorCode: 'not_allowed', at: unixNow() };
}

/** What is to be done, or why nothing of it is. */
async function judge(
  { settings, manager, known, maxDownloadMb }: Fleet,
  deployment: Deployment,
  history: readonly string[],
): Promise<{ work: Work } | { end: ActionEnd }> {
  try {
    const { key_file: keyFile } = settings();
    if (keyFile !== '') {
      checkPlanSignatures(deployment.chunks, await readVerificationKey(keyFile));
    }
    const work = readWork(deployment.chunks, manager.files.ending);
    checkAllowed(work, settings());
    checkSizes(work, maxDownloadMb());
    // The device would restart at each boot.
    if (work.reboot && history.some((text) => text.includes(RESTARTING))) {
      const why = 'the device restarted for it, and has lost its record of that (main.state_dir)';
      throw new DepotError('forbidden', `cannot do the action: ${why}`);
    }
    return { work };
  } catch (error) {
    if (!(error instanceof DepotError) || error.code === 'unavailable') throw error;
    const { error: message, errorCode } = failureFacts(error);
    known.lastError = message;
    return { end: { result: 'failure', message, errorCode, at: unixNow() } };
  }
}
