import type { Config } from './config/config.ts';
import { commandEnvironment, SELF_UPGRADE_LIMIT_S, VERSION } from './config/environment.ts';
import { localAddress } from './config/listen-address.ts';
import type { Paths } from './device/paths.ts';
import { createHost } from './create-device.ts';
import type { Host } from './device-ports.ts';
import { createAttemptLimit } from './features/login/attempt-limit.ts';
import { createDeviceEvents, type DeviceEvents } from './features/system/device-events.ts';
import { createPanelSessions } from './features/login/panel-sessions.ts';
import { createPasswordSessions } from './features/login/password-sessions.ts';
import type { IdentityTools } from './features/system/identity-routes.ts';
import type { LoginTools } from './features/login/routes.ts';
import { describeTask } from './features/tasks/routes.ts';
import { createOpenSessions, type Sessions } from './http/sessions.ts';
import { openJournal } from './jobs/journal.ts';
import { createTaskLogs, type TaskLogs } from './jobs/log.ts';
import { createQueue, type Queue } from './jobs/queue.ts';
import { createRunner } from './jobs/runner.ts';
import type { Log } from './log.ts';
import { createAutoInstalled } from './features/packages/auto-installed.ts';
import { createCatalog } from './features/packages/catalog.ts';
import { createDeviceId } from './features/system/device-id.ts';
import { createDisks, type Disks } from './features/disks/disks.ts';
import { createEntries, type Entries } from './features/app-status/entries.ts';
import { contradicts, planOf } from './features.ts';
import type { PackageTools } from './features/packages/deps.ts';
import { createRunRecords } from './features/uploads/run-records.ts';
import { createUploads, type Uploads } from './features/uploads/receive.ts';

/** What lives as long as the daemon, whatever configuration is read again. */
export interface Parts {
  host: Host;
  tools: PackageTools;
  entries: Entries;
  disks: Disks;
  uploads: Uploads;
  queue: Queue;
  logs: TaskLogs;
  events: DeviceEvents;
  /** By `main.auth`. */
  sessions: Record<Config['main']['auth'], Sessions>;
  login: Omit<LoginTools, 'auth' | 'base'>;
  identity: IdentityTools;
}

const MIB = 1024 ** 2;

export interface PartOptions {
  paths: Paths;
  log: Log;
  /** The configuration in force when asked. */
  config: () => Config;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
}

/** Builds host → jobs → store, each from those before it. */
export async function createParts({ paths, log, config, stopping }: PartOptions): Promise<Parts> {
  const selfUpgrade = {
    limitSeconds: SELF_UPGRADE_LIMIT_S,
    healthAddress: () => localAddress(config().main.listen),
  };
  const host = await createHost({
    paths,
    environment: commandEnvironment(),
    selfUpgrade,
    container: () => config().container,
  });
  await host.claimState();
  const [journal, logs] = await Promise.all([
    openJournal(paths.stateDir),
    createTaskLogs(paths.logDir),
  ]);
  const { packages } = host;
  const tools: PackageTools = {
    packages,
    catalog: createCatalog({ packages, log }),
    auto: createAutoInstalled(host.notes),
    uploads: host.uploads,
    records: createRunRecords(host.notes),
    selfUpgrade: host.selfUpgrade,
    container: host.container,
  };
  const runner = createRunner({
    processes: host.processes,
    logs,
    log,
    planOf: (job) => planOf(tools, job),
    save: journal.save,
  });
  const limits = () => ({
    jobs: config().main.keep_jobs,
    logBytes: config().main.keep_log_mb * MIB,
  });
  const queue = createQueue({ journal, logs, log, runner, contradicts, limits });
  const events = createDeviceEvents();
  queue.onChange((job) =>
    events.publish({ event: 'job', key: job.id, data: { task_id: job.id, ...describeTask(job) } }),
  );
  const login = {
    sessions: createPasswordSessions(),
    password: host.password,
    limit: createAttemptLimit(),
    log,
  };
  const sessions = {
    panel: createPanelSessions({ bus: host.panel, log }),
    password: login.sessions,
    none: createOpenSessions(),
  };
  const identity = {
    deviceId: createDeviceId(host.notes),
    architecture: packages.architecture,
    version: VERSION,
  };
  const entries = createEntries({ files: host.apps, catalog: tools.catalog, stopping });
  const disks = createDisks({ host: host.blockDevices, log });
  const uploads = createUploads(host.uploads);
  queue.onChange(uploads.settle);
  await uploads.sweep(queue.all());
  return { host, tools, entries, disks, uploads, queue, logs, events, sessions, login, identity };
}
