import type { Config } from './config/config.ts';
import { commandEnvironment, SELF_UPGRADE_LIMIT_S, VERSION } from './config/environment.ts';
import { localAddress } from './config/listen-address.ts';
import type { Paths } from './config/paths.ts';
import { createHost } from './host/create-host.ts';
import type { Host } from './host/host.ts';
import { createAttemptLimit } from './http/attempt-limit.ts';
import { createDeviceEvents, type DeviceEvents } from './http/follow-device.ts';
import { createPanelSessions } from './http/panel-sessions.ts';
import { createPasswordSessions } from './http/password-sessions.ts';
import type { IdentityTools } from './http/routes/identity.ts';
import type { LoginTools } from './http/routes/login.ts';
import { describeTask } from './http/routes/tasks.ts';
import { createOpenSessions, type Sessions } from './http/sessions.ts';
import { openJournal } from './jobs/journal.ts';
import { createTaskLogs, type TaskLogs } from './jobs/log.ts';
import { createQueue, type Queue } from './jobs/queue.ts';
import { createRunner } from './jobs/runner.ts';
import type { Log } from './log.ts';
import { createAutoInstalled } from './store/auto-installed.ts';
import { createCatalog } from './store/catalog.ts';
import { createDeviceId } from './store/device-id.ts';
import { createDisks, type Disks } from './store/disks.ts';
import { createEntries, type Entries } from './store/entries.ts';
import { contradicts, planOf } from './store/operations.ts';
import type { PackageTools } from './store/package-tools.ts';
import { createRunRecords } from './store/run-records.ts';
import { createUploads, type Uploads } from './store/upload.ts';

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
