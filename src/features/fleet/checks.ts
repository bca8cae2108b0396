import type { DeviceCheck, Finding } from '../device-check.ts';
import type { OpenFleet } from './open-fleet.ts';

/** What the polls have shown; none is sent for this. */
export function fleetChecks(opened: () => OpenFleet | undefined): readonly DeviceCheck[] {
  return [{ id: 'fleet', run: () => Promise.resolve(judge(opened())) }];
}

function judge(opened: OpenFleet | undefined): Finding {
  if (opened === undefined) return { state: 'skipped', message: 'fleet.server is not set' };
  const { agent, fleet } = opened;
  const { failures, lastError, polledMs } = fleet.known;
  if (!agent.isOn()) return { state: 'ok', message: 'the fleet server is switched off' };
  if (failures > 0) {
    const text = `${failures} polls in a row have failed: ${lastError ?? 'nobody answers'}`;
    const remedy = 'check the network, fleet.server, fleet.token_file and fleet.ca_file';
    return { state: 'warning', message: text, remedy };
  }
  const { endedBefore } = fleet.known;
  if (endedBefore !== undefined) {
    return {
      state: 'warning',
      message: `action ${endedBefore} had ended at the fleet server before this device said so`,
      remedy: 'make sure that no other device has this controller_id; or it was canceled by force',
    };
  }
  const unreported = fleet.records
    .all()
    .filter(({ end, isReported }) => end !== undefined && !isReported);
  if (unreported.length > 0) {
    const text = `the fleet server does not know yet how ${unreported.length} actions ended`;
    const remedy = 'wait for the next poll, or ask for one: depotctl fleet poll';
    return { state: 'warning', message: text, remedy };
  }
  const message =
    polledMs === undefined
      ? 'the fleet server has not been asked since the start'
      : 'the fleet server answered when it was last asked';
  return { state: 'ok', message };
}
