import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** Does some work while this process has no descriptor left. @returns its outcome, or its error */
export async function withoutDescriptors(work: () => Promise<unknown>): Promise<unknown> {
  spawnSync('prlimit', ['--pid', String(process.pid), '--nofile=100:']);
  const used: number[] = [];
  try {
    for (;;) used.push(openSync('/dev/null', 'r'));
  } catch {
    // Now there is none left.
  }
  const outcome = await work().catch((error: unknown) => String(error));
  for (const descriptor of used) closeSync(descriptor);
  return outcome;
}
