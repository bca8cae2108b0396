import * as v from 'valibot';
import { DepotError } from '../../errors.ts';
import { flag, isOn } from '../../http/parameter-schemas.ts';
import { json } from '../../http/respond.ts';
import { get, post, type Route } from '../../http/route.ts';
import type { OpenFleet } from './open-fleet.ts';
import type { ActionStatus, FleetStatus } from './documentation.ts';
import { unixTimeOf } from './clock.ts';
import { isOpen, type ActionRecord } from './records/action-record.ts';

const idText = v.pipe(v.string(), v.maxLength(64, 'at most 64 characters are allowed'));

/** The server that rolls out to this device, below `admin/fleet/`. */
export function fleetRoutes(
  opened: () => OpenFleet | undefined,
  controllerId: () => Promise<string>,
): Route[] {
  const status = async (): Promise<FleetStatus> => statusOf(opened(), await controllerId());
  const need = (): OpenFleet => {
    const found = opened();
    if (found !== undefined) return found;
    throw new DepotError('not_found', 'cannot ask the fleet server: none is set (fleet.server)');
  };
  return [
    get({
      path: 'admin/fleet/status',
      summary: 'The fleet server, the last poll and the action under way',
      handle: async () => json(await status()),
    }),
    post({
      path: 'admin/fleet/switch',
      summary: 'Let the fleet server act on this device, or not',
      params: { enable: flag },
      handle: async ({ params: { enable } }) => {
        await need().agent.switchTo(isOn(enable));
        return json(await status());
      },
    }),
    post({
      path: 'admin/fleet/poll',
      summary: 'Ask the fleet server now',
      handle: async () => {
        await need().agent.pollNow();
        return json(await status());
      },
    }),
    post({
      path: 'admin/fleet/confirm',
      summary: 'Agree to the action that the owner is asked about, or decline it',
      params: { id: idText, confirm: flag },
      handle: async ({ params: { id, confirm } }) => {
        await answer(need(), id, isOn(confirm));
        return json(await status());
      },
    }),
  ];
}

async function answer({ fleet, agent }: OpenFleet, id: string, isGiven: boolean): Promise<void> {
  const { records, known } = fleet;
  const record = known.asking === undefined ? undefined : records.find(known.asking);
  if (record?.actionId !== id) {
    throw new DepotError('not_found', `cannot answer: the owner is not asked about ${id}`);
  }
  await records.update(record.key, { consent: isGiven ? 'given' : 'denied' });
  await agent.pollNow();
}

/** @param opened undefined if there is no server */
function statusOf(opened: OpenFleet | undefined, controllerId: string): FleetStatus {
  if (opened === undefined) return { is_configured: false, is_on: false };
  const { agent, fleet } = opened;
  const { polledMs, nextPollMs, intervalS, lastError, failures } = fleet.known;
  const mayAct = agent.isOn();
  return {
    is_configured: true,
    is_on: mayAct,
    server: fleet.settings().server,
    controller_id: controllerId,
    polled_at: polledMs && unixTimeOf(polledMs),
    next_poll_at: mayAct ? nextPollMs && unixTimeOf(nextPollMs) : undefined,
    interval_s: intervalS,
    last_error: failures === 0 ? undefined : lastError,
    action: actionOf(fleet),
  };
}

/** The action that is open, else the newest. */
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
