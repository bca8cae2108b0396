import * as v from 'valibot';
import { DepotError } from '../../errors.ts';
import { flag, isOn } from '../../http/parameter-schemas.ts';
import { json } from '../../http/respond.ts';
import { get, post, type Route } from '../../http/route.ts';
import type { OpenFleet } from './open-fleet.ts';
import type { FleetStatus } from './documentation.ts';

const actionId = v.pipe(v.string(), v.maxLength(64, 'at most 64 characters are allowed'));

/** The server that rolls out to this device, below `admin/fleet/`. */
export function fleetRoutes(
  opened: () => OpenFleet | undefined,
  status: () => Promise<FleetStatus>,
): Route[] {
  const need = (): OpenFleet => {
    const found = opened();
    if (found !== undefined) return found;
    throw new DepotError('not_found', 'cannot ask the fleet server: none is set (fleet.server)');
  };
  return [
    get({
      path: 'admin/fleet/status',
      summary: 'The fleet server, the last poll and the action under way',
      params: {},
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
      params: {},
      handle: async () => {
        await need().agent.pollNow();
        return json(await status());
      },
    }),
    post({
      path: 'admin/fleet/confirm',
      summary: 'Agree to the action that the owner is asked about, or decline it',
      params: { id: actionId, confirm: flag },
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
