import { unixTimeOf } from './clock.ts';
import type { ActionStatus, FleetStatus } from './documentation.ts';
import type { OpenFleet } from './open-fleet.ts';
import { isOpen, type ActionRecord } from './records/action-record.ts';

/** @param opened undefined if there is no server */
export function statusOf(opened: OpenFleet | undefined, controllerId: string): FleetStatus {
  if (opened === undefined) return { is_configured: false, is_on: false };
  const { agent, fleet } = opened;
  const { polledMs, nextPollMs, intervalS, lastError, failures } = fleet.known;
  const isOn = agent.isOn();
  return {
    is_configured: true,
    is_on: isOn,
    server: fleet.settings().server,
    controller_id: controllerId,
    polled_at: polledMs && unixTimeOf(polledMs),
    next_poll_at: isOn ? nextPollMs && unixTimeOf(nextPollMs) : undefined,
    interval_s: intervalS,
    last_error: failures === 0 ? undefined : lastError,
    action: actionOf(fleet),
  };
}

/** The one that is open, else the newest. */
function actionOf({ records, known }: OpenFleet['fleet']): ActionStatus | undefined {
  const all = records.all();
  const record = all.find(isOpen) ?? all.at(-1);
  if (record === undefined) return undefined;
  const { actionId, title, end, isReported, jobId } = record;
  const transfer = known.transfer?.key === record.key ? known.transfer : undefined;
  return {
    id: actionId,
    title,
    state: stateOf(known, record),
    result: end?.result,
    message: end?.message,
    error_code: end?.errorCode,
    is_reported: isReported,
    task_id: jobId,
    downloaded_bytes: transfer?.doneBytes,
    total_bytes: transfer?.totalBytes,
  };
}

function stateOf(
  { transfer, asking, fetched }: OpenFleet['fleet']['known'],
  { key, end, jobId }: ActionRecord,
): ActionStatus['state'] {
  if (end !== undefined) return 'ended';
  if (jobId !== undefined) return 'installing';
  if (transfer?.key === key) return 'downloading';
  if (asking === key) return 'asking';
  return fetched === key ? 'waiting' : 'offered';
}
