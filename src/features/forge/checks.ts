import type { DeviceCheck, Finding } from '../device-check.ts';
import type { ForgeHealth } from './health.ts';
import { timeText } from '../../format-time.ts';

/** What the requests that went to the forge have shown; none is sent for this. */
export function forgeChecks(health: () => ForgeHealth): readonly DeviceCheck[] {
  return [{ id: 'forge', run: () => Promise.resolve(judge(health())) }];
}

function judge({ configured, reachable, lastError, failedAt = 0 }: ForgeHealth): Finding {
  if (!configured) return { state: 'skipped', message: 'forge.upstream is not set' };
  if (reachable === false) {
    const message =
      `the forge could not be reached at ${timeText(failedAt * 1000)}: ` +
      (lastError ?? 'it gave no answer');
    const remedy = 'check the network and the options forge.upstream and forge.ca_file';
    return { state: 'warning', message, remedy };
  }
  const message =
    reachable === undefined
      ? 'no request has gone to the forge since the start'
      : 'the forge answered when it was last asked';
  return { state: 'ok', message };
}
