import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

import type { Outcome } from '../device/command.ts';

const HOST = join(import.meta.dirname, 'depotctl-host.mjs');

/** Of this process, whatever modules it loads anew for the next file of tests. */
const SHARED = Symbol.for('depotctl hosts');
const shared = globalThis as unknown as { [SHARED]: ChildProcess[] | undefined };
const idle = (shared[SHARED] ??= []);

/** What depotctl does with these words and an empty input, in a process that has run it before. */
export async function runHosted(
  program: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Outcome> {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const host = idle.pop() ?? fork(HOST, [program], { execArgv: [], stdio: [...stdio] });
  for (const held of [host, host.channel]) held?.ref();
  const outcome = await new Promise<Outcome>((resolve, reject) => {
    host.once('message', (message) => resolve(message as Outcome));
    host.once('exit', (code) => reject(new Error(`cannot run depotctl: ${String(code)}`)));
    host.send({ words, env });
  });
  host.removeAllListeners('exit');
  // One that is idle keeps nobody from ending.
  for (const held of [host, host.channel]) held?.unref();
  idle.push(host);
  return outcome;
}
