import { uptime } from 'node:os';
import { run } from '../../../device/exec.ts';
import { unixNow } from '../../../jobs/job.ts';
import type { ActionEnd, ActionRecord } from '../records/action-record.ts';
import { noticesOf, type Fleet, type Server } from './fleet.ts';

/** Known by the server before: a device that has lost its record reads it there. */
export const RESTARTING = 'the device restarts now';
const COMMAND_MS = 30_000;

/**
 * Once for an action: before the command is run the server has taken that it does, and the action's
 * record has the boot that it is done in.
 */
export async function restartDevice(
  fleet: Fleet,
  { client }: Server,
  record: ActionRecord,
): Promise<void> {
  const { records, known, processes, paths, scriptEnvironment, log } = fleet;
  const { key, actionId } = record;
  const fail = async (why: string): Promise<void> => {
    const message = `cannot restart the device: ${why}`;
    const end: ActionEnd = { result: 'failure', message, errorCode: 'unknown', at: unixNow() };
    await records.update(key, { end });
  };
  const { said } = noticesOf(known, record);
  if (!said.has(RESTARTING)) {
    const reception = await client.report(actionId, {
      execution: 'proceeding',
      details: [RESTARTING],
    });
    if (reception === 'later') return;
    if (reception !== 'accepted') {
      await fail(`the server does not take that it does, ${reception}`);
      return;
    }
    said.add(RESTARTING);
  }
  const restart = { boot: await processes.bootId(), atS: uptime() };
  await records.update(key, { restart });
  log.warn({ action: actionId }, 'fleet action restarts the device');
  const { exitCode, stderr } = await run(
    { argv: [paths.onDevice('/sbin/reboot')], environment: scriptEnvironment, cwd: '/' },
    { timeoutMs: COMMAND_MS, maxBytes: 4096 },
  );
  // One that was ended by a signal may be the restart itself.
  if (exitCode !== undefined && exitCode !== 0) {
    await fail(`exit code ${exitCode} ${stderr.trim().slice(-200)}`.trim());
  }
}
