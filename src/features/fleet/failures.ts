import { DepotError, type ErrorCode } from '../../errors.ts';

/** Why an action fails that no other task of a device does, and what can be done about it. */
export const FLEET_REMEDIES = {
  older_version: 'Allow "downgrade" in fleet.allow of the device, or roll out a newer version.',
  time_limit:
    'Read the end of the task log for what it waits for; a plan may give it longer by "limit_s".',
} as const;

export type FleetCode = keyof typeof FLEET_REMEDIES;

export function fleetFailure(code: ErrorCode, because: FleetCode, message: string): DepotError {
  return new DepotError(code, message, {
    explanation: { code: because, remedy: FLEET_REMEDIES[because] },
  });
}
