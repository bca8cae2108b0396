import { commandEnvironment } from './config/environment.ts';
import { createNotes } from './device/notes.ts';
import { createPaths } from './device/paths.ts';
import { openTrustedFolder } from './device/private-folder.ts';
import { createProcesses } from './device/processes.ts';
import { claimState } from './device/sole-daemon.ts';
import type { FeatureContext } from './features/feature.ts';
import { createDeviceEvents } from './http/device-events.ts';
import { openJournal } from './jobs/journal/journal.ts';
import { createJobKinds } from './jobs/kinds.ts';
import { createTaskLogs } from './jobs/task-logs.ts';
import type { RetentionLimits } from './jobs/pruning.ts';
import { createQueue } from './jobs/queue.ts';
import { createRunner } from './jobs/runner.ts';

/** How many more ended jobs are read, in case features still need them (`queue.keepWhile`). */
const MOST_NEEDED = 100;
const MIB = 1024 ** 2;

/**
 * What features stand on, whatever configuration is read again: the device and its jobs. Waits
 * until no other daemon works with the state folder.
 * @returns `kinds`, too, to be filled with the features' before the queue is resumed
 * @throws DepotError unavailable if one goes on, or if the folder cannot be written
 */
export async function createFoundation(
  given: Pick<FeatureContext, 'config' | 'log' | 'stopping' | 'setOption'>,
) {
  const { config, log } = given;
  const paths = createPaths(config());
  const [processes, notes] = [createProcesses(), createNotes(paths.stateDir)];
  await openTrustedFolder(paths.stateDir);
  const environment = commandEnvironment();
  await claimState({ folder: paths.stateDir, processes, environment, log });
  const [journal, logs] = await Promise.all([
    openJournal(paths.stateDir, {
      // Which ended jobs are still needed the features say later.
      mostEnded: config().main.keep_jobs + MOST_NEEDED,
      mostQueued: config().main.queue_max,
    }),
    createTaskLogs(paths.logDir),
  ]);
  if (journal.dropped > 0) log.error({ jobs: journal.dropped }, 'waiting jobs dropped');
  const kinds = createJobKinds();
  const { planOf, contradicts, request, admit } = kinds;
  const runner = createRunner({ processes, logs, log, planOf, save: journal.save });
  const limits = (): RetentionLimits => {
    const { keep_jobs: jobs, keep_log_mb: megabytes } = config().main;
    return { jobs, logBytes: megabytes * MIB };
  };
  const queue = createQueue({
    ...{ journal, logs, log, runner, processes, planOf, contradicts, limits },
    mostQueued: () => config().main.queue_max,
  });
  const context: FeatureContext = {
    ...given,
    paths,
    environment,
    processes,
    notes,
    queue,
    logs,
    // OpenWrt's /lib/functions.sh reads the root from it, whichever package manager is used.
    scriptEnvironment: paths.isLive ? environment : { ...environment, IPKG_INSTROOT: paths.root },
    events: createDeviceEvents(),
    submit: async (kind, subject, params) => {
      await admit(kind);
      return queue.submit(request(kind, subject, params));
    },
  };
  return { context, queue, kinds };
}
