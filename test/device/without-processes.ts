import { spawnSync } from 'node:child_process';

import { syncDisk } from '../../src/device/disk/sync.ts';
import { run, startDetached } from '../../src/device/exec.ts';
import { isShortage } from '../../src/device/shortage.ts';

/** Runs commands as a user who may have no more processes, and prints what came of it. */
const NOBODY = 54_321;
const command = { argv: ['true'] as [string], environment: {}, cwd: '/' };
const limits = { timeoutMs: 5000, maxBytes: 1024 };
await run(command, limits);
spawnSync('prlimit', ['--pid', String(process.pid), '--nproc=1:1']);
// Root is not limited.
process.setuid?.(NOBODY);
const { exitCode, error } = await run(command, limits);
const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (reason: unknown) => (isShortage(reason) ? 'shortage' : String(reason)),
  );
process.stdout.write(
  JSON.stringify({
    isRun: exitCode !== undefined,
    isShortage: isShortage(error),
    detached: await outcomeOf(startDetached(command, 1)),
    sync: await outcomeOf(syncDisk({ PATH: '/usr/bin:/bin' }, ['/'])),
  }),
);
