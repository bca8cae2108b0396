import { unixTimeOf } from './clock.ts';
import type { FleetSettings } from './options.ts';
import type { OpenFleet } from './open-fleet.ts';
import { isOpen, type ActionRecord } from './records/action-record.ts';

/** What the page and `depotctl fleet` show. */
export interface FleetStatus {
  is_configured: boolean;
  is_on: boolean;
  server?: string;
  controller_id?: string;
  polled_at?: number;
  next_poll_at?: number;
  interval_s?: number;
  last_error?: string;
  action?: ActionStatus;
}

export interface ActionStatus {
  id: string;
  title: string;
  state: 'offered' | 'downloading' | 'waiting' | 'asking' | 'installing' | 'ended';
  result?: string;
  message?: string;
  error_code?: string;
  is_reported: boolean;
  task_id?: string;
  downloaded_bytes?: number;
  total_bytes?: number;
}

/** @param opened undefined if no server was ever set since the start */
export function statusOf(
  settings: FleetSettings,
  opened: OpenFleet | undefined,
  controllerId: string,
): FleetStatus {
  if (settings.server === '' || opened === undefined) return { is_configured: false, is_on: false };
  const { agent, fleet } = opened;
  const { polledMs, nextPollMs, intervalS, lastError, failures } = fleet.known;
  const action = actionOf(opened);
  return {
    is_configured: true,
    is_on: agent.isOn(),
    server: settings.server,
    controller_id: controllerId,
    ...(polledMs === undefined ? {} : { polled_at: unixTimeOf(polledMs) }),
    ...(nextPollMs === undefined || !agent.isOn() ? {} : { next_poll_at: unixTimeOf(nextPollMs) }),
    ...(intervalS === undefined ? {} : { interval_s: intervalS }),
    ...(lastError === undefined || failures === 0 ? {} : { last_error: lastError }),
    ...(action === undefined ? {} : { action }),
  };
}

/** The one that is open, else the newest. */
function actionOf({ fleet }: OpenFleet): ActionStatus | undefined {
  const all = fleet.records.all();
  const record = all.find(isOpen) ?? all.at(-1);
  if (record === undefined) return undefined;
  const { actionId, title, end, isReported, jobId } = record;
  const { transfer } = fleet.known;
  return {
    id: actionId,
    title,
    state: stateOf(fleet, record),
    ...(end === undefined ? {} : { result: end.result, message: end.message }),
    ...(end?.errorCode === undefined ? {} : { error_code: end.errorCode }),
    is_reported: isReported,
    ...(jobId === undefined ? {} : { task_id: jobId }),
    ...(transfer?.key === record.key
      ? { downloaded_bytes: transfer.doneBytes, total_bytes: transfer.totalBytes }
      : {}),
  };
}

function stateOf({ known }: OpenFleet['fleet'], record: ActionRecord): ActionStatus['state'] {
  if (record.end !== undefined) return 'ended';
  if (record.jobId !== undefined) return 'installing';
  if (known.transfer?.key === record.key) return 'downloading';
  if (known.asking?.key === record.key) return 'asking';
  return known.fetched === record.key ? 'waiting' : 'offered';
}
