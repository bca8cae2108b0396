import type { Config } from './config/config.ts';
import { commandEnvironment, VERSION } from './config/environment.ts';
import type { Paths } from './config/paths.ts';
import { createHost } from './host/create-host.ts';
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
import { contradicts, planOf } from './store/operations.ts';
import type { PackageTools } from './store/package-plans.ts';

/** What lives as long as the daemon, whatever configuration is read again. */
export interface Parts {
  tools: PackageTools;
  queue: Queue;
  logs: TaskLogs;
  events: DeviceEvents;
  /** By `main.auth`. */
  sessions: Record<Config['main']['auth'], Sessions>;
  login: Omit<LoginTools, 'auth' | 'base'>;
  identity: IdentityTools;
}

const MIB = 1024 ** 2;

/** Builds host → jobs → store, each from those before it. @param config the configuration in force when asked */
export async function createParts({ paths, log, config }: { paths: Paths; log: Log; config: () => Config }): Promise<Parts> {
  const host = await createHost({ paths, environment: commandEnvironment() });
  const [journal, logs] = await Promise.all([openJournal(paths.stateDir), createTaskLogs(paths.logDir)]);
  const { packages } = host;
  const tools: PackageTools = { packages, catalog: createCatalog({ packages, log }), auto: createAutoInstalled(host.notes) };
  const runner = createRunner({ processes: host.processes, logs, log, planOf: (job) => planOf(tools, job), save: journal.save });
  const limits = () => ({ jobs: config().main.keep_jobs, logBytes: config().main.keep_log_mb * MIB });
  const queue = createQueue({ journal, logs, log, runner, contradicts, limits });
  const events = createDeviceEvents();
  queue.onChange((job) => events.publish({ event: 'job', key: job.id, data: { task_id: job.id, ...describeTask(job) } }));
  const login = { sessions: createPasswordSessions(), password: host.password, limit: createAttemptLimit(), log };
  const sessions = { panel: createPanelSessions({ bus: host.panel, log }), password: login.sessions, none: createOpenSessions() };
  const identity = { deviceId: createDeviceId(host.notes), architecture: packages.architecture, version: VERSION };
  return { tools, queue, logs, events, sessions, login, identity };
}
