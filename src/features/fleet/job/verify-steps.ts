import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../../../device/exec.ts';
import { reasonOf, DepotError } from '../../../errors.ts';
import { plainAct, type Act } from '../../../jobs/plan.ts';
import { createConnection, type Call } from '../ddi/ddi-connection.ts';
import { fleetFailure } from '../failures.ts';
import type { Work } from '../rollout/work.ts';
import type { FleetJobTools, Task } from './fleet-job-tools.ts';
import { realpath } from 'node:fs/promises';
import { replaceFile } from '../../../device/durable-file.ts';

type Verification = Work['verify'][number];

/** How long services get to apply settings: they go on after their script has ended. */
const APPLY_MS = 15_000;
const PAUSE_MS = 2000;
const ANSWER_MS = 10_000;
const MOST_BYTES = 1024 ** 2;

/**
 * What has to be so when all of an action is done, or the repair puts back what it changed: the
 * server answers though settings were changed, and what the plan asks for. A daemon that is killed
 * meanwhile asks again; after a power cut all is put back.
 */
export function verifySteps(tools: FleetJobTools, { work }: Task): Act[] {
  const hasSettings = Object.keys(work.settings).length > 0;
  return [
    ...(hasSettings ? [reachStep(tools)] : []),
    ...work.verify.map((each, index) => verifyStep(tools, each, index)),
  ];
}

function reachStep({ reach, settings, paths }: FleetJobTools): Act {
  return plainAct('reach', 'check', async ({ signal }) => {
    if (paths.isLive) await delay(APPLY_MS, undefined, { signal });
    const seconds = settings().reach_s;
    const why = await attempt(() => reach(), { seconds, signal });
    if (why === undefined) return;
    const text =
      'cannot keep the settings: the fleet server did not answer within ' + `${seconds} s: ${why}`;
    throw fleetFailure('command_failed', 'cut_off', text);
  });
}

function verifyStep(tools: FleetJobTools, verification: Verification, index: number): Act {
  const { http, command = [], seconds } = verification;
  return plainAct(`verify-${index}`, 'check', async ({ signal, note }) => {
    const what = http ?? command.join(' ');
    await note(`verify ${what}`);
    const look = () => (http === undefined ? runOnce(tools, verification) : askOnce(http));
    const why = await attempt(look, { seconds, signal });
    if (why === undefined) return;
    const text = `cannot verify ${what} within ${seconds} s: ${why}`;
    throw fleetFailure('command_failed', 'verify_failed', text);
  });
}

/** @returns why it did not succeed, at last; undefined if it did */
async function attempt(
  work: () => Promise<void>,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<string | undefined> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    try {
      await work();
      return undefined;
    } catch (error) {
      if (performance.now() + PAUSE_MS >= deadline || signal.aborted) return reasonOf(error);
    }
    // A stop ends the pause, and the try after it is the last one.
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function askOnce(http: string): Promise<void> {
  const { origin, pathname, search } = new URL(http);
  const connection = createConnection(origin, { tls: {} }, ANSWER_MS);
  const call: Call = { method: 'GET', path: `${pathname}${search}`, headers: { accept: '*/*' } };
  try {
    const { status } = await connection.ask(call, MOST_BYTES);
    if (status < 200 || status >= 400) throw new Error(`it answered ${status}`);
  } finally {
    connection.close();
  }
}

async function runOnce(
  { scriptEnvironment }: FleetJobTools,
  { command: [program = '', ...args] = [], seconds }: Verification,
): Promise<void> {
  const { exitCode, stderr } = await run(
    { argv: [program, ...args], environment: scriptEnvironment },
    { timeoutMs: seconds * 1000, maxBytes: MOST_BYTES },
  );
  if (exitCode !== 0) throw new Error(`exit code ${exitCode ?? 'none'} ${stderr.slice(-200)}`);
}

/**
 * Exchanges the device's token, last: the new one has to work at the server before the file has
 * it, in one rename. Whenever the device goes down, the file holds one that has worked. It is not
 * put back with the rest: the old one may be good no more. The token stands in the action's record
 * until that ends, and in no other place.
 */
export function tokenSteps(tools: FleetJobTools, { work, key }: Task): Act[] {
  if (work.token === undefined) return [];
  return [
    plainAct('token', 'check', async ({ signal, note }) => {
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
