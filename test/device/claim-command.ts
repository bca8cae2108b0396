import { createProcesses } from '../../src/device/processes.ts';
import { claimState } from '../../src/device/sole-daemon.ts';
import { createLog } from '../../src/log.ts';

/**
 * What a daemon does first, alone: claims FOLDER as soon as the line `go` comes, waits at most
 * LIMIT_MS for it, says `claimed` or why not, and keeps it until it is killed. PATH is where flock
 * is looked for.
 */
const [folder = '', limitMs = '', path = ''] = process.argv.slice(2);
process.stdout.write('ready\n');
process.stdin.once('data', () => {
  claimState({
    folder,
    processes: createProcesses(),
    environment: { PATH: path },
    log: createLog('silent'),
    waitMs: Number(limitMs),
  }).then(
    () => process.stdout.write('claimed\n'),
    (error: unknown) => process.stdout.write(`${String(error)}\n`, () => process.exit(1)),
  );
});
