import { realpath } from 'node:fs/promises';
import { replaceFile } from '../../../device/durable-file.ts';
import { DepotError } from '../../../errors.ts';
import type { Act } from '../../../jobs/plan.ts';
import { fleetFailure } from '../failures.ts';
import type { Work } from '../rollout/work.ts';
import { actStep, type FleetJobTools, type Task } from './tools.ts';
import { attempt } from './verify-steps.ts';

/**
 * Exchanges the device's token, last: the new one has to work at the server before the file has
 * it, in one rename. Whenever the device goes down, the file holds one that has worked. It is not
 * put back with the rest: the old one may be good no more. The token stands in the action's record
 * until that ends, and in no other place.
 */
export function tokenSteps(tools: FleetJobTools, { work, key }: Task): Act[] {
  if (work.token === undefined) return [];
  return [
    actStep('token', 'check', async ({ signal, note }) => {
      const { reach_s: seconds, token_file: file } = tools.settings();
      const token = tools.records.find(key)?.work?.token ?? '';
      if (file === '' || token === '') throw noTokenFile();
      const why = await attempt(() => tools.reach(token), { seconds, signal });
      if (why !== undefined) {
        const text = `cannot take the new token: it did not work within ${seconds} s: ${why}`;
        throw fleetFailure('command_failed', 'token_refused', text);
      }
      await replaceFile(await realpath(file), `TargetToken ${token}\n`);
      await note('the new token works, and has replaced the old one');
    }),
  ];
}

/** @throws DepotError unavailable */
export function checkTokenFile({ settings }: FleetJobTools, { token }: Work): void {
  if (token !== undefined && settings().token_file === '') throw noTokenFile();
}

function noTokenFile(): DepotError {
  return new DepotError('unavailable', 'cannot take the new token: fleet.token_file is not set');
}
