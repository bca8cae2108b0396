import { access, constants } from 'node:fs/promises';
import { getRequestListener } from '@hono/node-server';
import type { RequestListener } from 'node:http';
import { loadConfig, type Config, type ConfigSource } from './config/config.ts';
import { commandEnvironment, SELF_UPGRADE_LIMIT_S, VERSION } from './config/environment.ts';
import { localAddress, parseListenAddress } from './config/listen-address.ts';
import { createPaths, type Paths } from './config/paths.ts';
import { reasonOf } from './errors.ts';
import { createHost } from './host/create-host.ts';
import type { Host } from './host/host.ts';
import { createApp } from './http/app.ts';
import { createDeviceEvents, type DeviceEvents } from './http/follow-device.ts';
import { hostForm, type KnownHosts } from './http/guard.ts';
import type { Route } from './http/route.ts';
import { diskRoutes } from './http/routes/disks.ts';
import { entryRoutes } from './http/routes/entries.ts';
import { panelRoutes } from './http/routes/panel.ts';
import { selfUpgradeRoutes } from './http/routes/self-upgrade.ts';
import { storeRoutes } from './http/routes/store.ts';
import { systemRoutes } from './http/routes/system.ts';
import { describeTask, taskRoutes } from './http/routes/tasks.ts';
import { uploadRoutes } from './http/routes/upload.ts';
import { createClosedSessions, createOpenSessions, type Sessions } from './http/sessions.ts';
import { openJournal } from './jobs/journal.ts';
import { createTaskLogs, type TaskLogs } from './jobs/log.ts';
import { createQueue, type Queue } from './jobs/queue.ts';
import { createRunner } from './jobs/runner.ts';
import { createLog, type Log } from './log.ts';
import { createListeners } from './server.ts';
import { createAutoInstalled } from './store/auto-installed.ts';
import { createCatalog } from './store/catalog.ts';
import { createDisks, type Disks } from './store/disks.ts';
import { createEntries, type Entries } from './store/entries.ts';
import { contradicts, planOf, progressOf } from './store/operations.ts';
import type { PackageTools } from './store/package-plans.ts';
import { createRunRecords } from './store/run-records.ts';
import { createUploads, type Uploads } from './store/upload.ts';

export interface Daemon {
  /** Reads the configuration again; one that is wrong is logged and the running one stays. */
  reload: () => Promise<void>;
  /** Takes no more requests, finishes those under way, leaves running jobs running. */
  stop: () => Promise<void>;
}

/** How long answers under way may take when the daemon stops. */
const STOP_GRACE_MS = 5000;
const MIB = 1024 ** 2;

/** Composition root: config → host → jobs → store → http; then it listens. @throws DepotError with what keeps it from starting */
export async function startDaemon(source: ConfigSource): Promise<Daemon> {
  let config = loadConfig(source);
  const log = createLog(config.main.log_level);
  const paths = createPaths(config);
  const stopping = new AbortController();
  const parts = await createParts({ paths, log, config: () => config, stopping: stopping.signal });
  const open = createOpenSessions();
  const listenerFor = (): RequestListener => createListener({ ...parts, config, log, paths, stopping: stopping.signal, sessions: config.main.auth === 'none' ? open : createClosedSessions() });
  let listener = listenerFor();
  const listeners = createListeners((request, response) => listener(request, response), log);
  await listeners.listen(config.main.listen);
  parts.queue.resume();
  await parts.tools.catalog.watch();

  return {
    reload: async () => {
      try {
        const next = loadConfig(source);
        tellWhatWaits(config, next, log);
        await listeners.listen(next.main.listen);
        config = { ...next, main: { ...next.main, ...pick(config.main, NEEDS_RESTART) } };
        log.level = config.main.log_level;
        listener = listenerFor();
        log.info({}, 'configuration read again');
      } catch (error) {
        log.error({ reason: reasonOf(error) }, 'configuration not taken over');
      }
    },
    stop: async () => {
      stopping.abort();
      parts.queue.close();
      await listeners.close(STOP_GRACE_MS);
      parts.disks.close();
      await parts.tools.catalog.close();
      log.info({}, 'stopped');
    },
  };
}

interface Parts {
  host: Host;
  tools: PackageTools;
  entries: Entries;
  disks: Disks;
  uploads: Uploads;
  queue: Queue;
  logs: TaskLogs;
  events: DeviceEvents;
}

interface PartOptions {
  paths: Paths;
  log: Log;
  config: () => Config;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
}

async function createParts({ paths, log, config, stopping }: PartOptions): Promise<Parts> {
  const selfUpgrade = { limitSeconds: SELF_UPGRADE_LIMIT_S, healthAddress: () => localAddress(config().main.listen) };
  const host = await createHost({ paths, environment: commandEnvironment(), selfUpgrade });
  const [journal, logs] = await Promise.all([openJournal(paths.stateDir), createTaskLogs(paths.logDir)]);
  const { packages } = host;
  const tools: PackageTools = { packages, catalog: createCatalog({ packages, log }), auto: createAutoInstalled(host.notes), uploads: host.uploads, records: createRunRecords(host.notes), selfUpgrade: host.selfUpgrade };
  const runner = createRunner({ processes: host.processes, logs, log, planOf: (job) => planOf(tools, job), save: journal.save });
  const limits = () => ({ jobs: config().main.keep_jobs, logBytes: config().main.keep_log_mb * MIB });
  const queue = createQueue({ journal, logs, log, runner, contradicts, limits });
  const events = createDeviceEvents();
  queue.onChange((job) => events.publish({ event: 'job', key: job.id, data: { task_id: job.id, ...describeTask(job) } }));
  const entries = createEntries({ files: host.apps, catalog: tools.catalog, stopping });
  const disks = createDisks({ host: host.blockDevices, log });
  const uploads = createUploads(host.uploads);
  queue.onChange(uploads.settle);
  await uploads.sweep(queue.all());
  return { host, tools, entries, disks, uploads, queue, logs, events };
}

interface ListenerOptions extends Parts {
  config: Config;
  log: Log;
  paths: Paths;
  stopping: AbortSignal;
  sessions: Sessions;
}

function createListener({ host, tools, entries, disks, uploads, queue, logs, events, config, log, paths, stopping, sessions }: ListenerOptions): RequestListener {
  const { base } = config.main;
  const ailments = (): Promise<string[]> => findAilments(paths, stopping);
  const routes: Route[] = [
    ...storeRoutes({ catalog: tools.catalog, queue, logs }),
    ...entryRoutes({ files: host.apps, entries }),
    ...diskRoutes(disks),
    ...selfUpgradeRoutes({ packages: tools.packages, queue }),
    ...uploadRoutes({ uploads, records: tools.records, queue, limitBytes: config.main.upload_max_mb * MIB, freeBytes: host.uploads.freeBytes }),
    ...taskRoutes({ queue, logs, progressOf: (job) => progressOf(tools, job), stopping }),
    ...systemRoutes({ queue, version: VERSION, ailments, events, base, stopping, routes: () => routes }),
    ...panelRoutes(base),
  ];
  const app = createApp({ base, routes, hosts: knownHosts(config), sessions, stopping, log });
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return (request, response) => void answer(request, response);
}

function knownHosts({ main }: Config): KnownHosts {
  const addresses = main.listen.map(parseListenAddress);
  const names = addresses.flatMap((address) => (address.kind === 'tcp' ? [hostForm(address.host) ?? ''] : []));
  return { listening: new Set(names), configured: main.hosts };
}

async function findAilments({ stateDir, logDir }: Paths, stopping: AbortSignal): Promise<string[]> {
  const ailments = stopping.aborted ? ['the daemon is stopping'] : [];
  for (const folder of [stateDir, logDir]) {
    await access(folder, constants.W_OK).catch((error: unknown) => ailments.push(`cannot write to ${folder}: ${reasonOf(error)}`));
  }
  return ailments;
}

/** What the parts were built with: it cannot change under running jobs. */
const NEEDS_RESTART = ['root', 'state_dir', 'log_dir', 'upload_dir'] as const;

function tellWhatWaits({ main }: Config, next: Config, log: Log): void {
  const waiting = NEEDS_RESTART.filter((name) => main[name] !== next.main[name]).map((name) => `main.${name}`);
  if (waiting.length > 0) log.warn({ options: waiting }, 'options that apply after a restart only');
}

function pick<Value extends object, Name extends keyof Value>(value: Value, names: readonly Name[]): Pick<Value, Name> {
  return Object.fromEntries(names.map((name) => [name, value[name]])) as Pick<Value, Name>;
}
