import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../config/config.ts';
import type { Paths } from '../device/paths.ts';
import type { Notes, Processes } from '../device/ports.ts';
import type { ConnectionHook } from '../http/connection-hook.ts';
import type { DeviceEvents } from '../http/device-events.ts';
import type { HealthReport } from '../http/health-report.ts';
import type { FeatureDocumentation, PassedInterface } from '../http/openapi/documentation.ts';
import type { Metric } from '../http/metrics-text.ts';
import type { Route } from '../http/route.ts';
import type { Sessions } from '../http/session/sessions.ts';
import type { Job, Submission } from '../jobs/job.ts';
import type { JobKind } from '../jobs/kinds.ts';
import type { TaskLogs } from '../jobs/task-logs.ts';
import type { Queue } from '../jobs/queue.ts';
import type { Log } from '../log.ts';
import type { DeviceCheck } from './device-check.ts';

/** What a feature gives to the daemon. `features.ts` lists them; nothing else knows their names. */
export interface Feature {
  /** The feature's part of the API, made anew for each configuration. */
  routes?: (served: Served) => readonly Route[];
  /** What openapi.json says of its answers; asked for with the first request for that. */
  documentation?: (base: string) => Promise<FeatureDocumentation>;
  /** Kinds of jobs by the name that stands in the journal. */
  jobs?: Readonly<Record<string, JobKind>>;
  /** What it knows of its own state, for /healthz. */
  health?: () => Promise<HealthReport>;
  /** What of its own subject the doctor asks; loaded with the first request for that. */
  checks?: () => Promise<readonly DeviceCheck[]>;
  /** Figures of the feature, for /metrics. */
  metrics?: () => readonly Metric[];
  /** Who is logged in, by `main.auth`. One feature gives this. */
  sessions?: SessionsByAuth;
  /** What it passes on as it stands; opened for each configuration, closed after it. */
  passThrough?: (config: Config) => Promise<PassThrough>;
  /** Whether it has something to do at a time, for which the daemon has to be there. */
  keepsUp?: () => boolean;
  /** Called once, when the daemon listens and jobs run. */
  start?: () => Promise<void> | undefined;
  /** Called when another configuration is in force. */
  reload?: () => Promise<void>;
  /** Called once, when the daemon has answered its last request. Jobs may still run. */
  close?: () => Promise<void> | undefined;
}

export type SessionsByAuth = Readonly<Record<Config['main']['auth'], Sessions>>;

/** What a feature says in the status of tasks, by what it read last. */
export interface TaskNotes {
  describe: (job: Job) => object;
  /** Never fails. @param job that it is read for, if it has ended; default: all of them */
  refresh: (job?: Job) => Promise<void>;
}

/** Requests that are no part of the API: told by their raw target, and never parsed. */
export interface PassThrough {
  /** Cheap, and safe on any text. */
  owns: (rawTarget: string) => boolean;
  /** Nothing else has read from the request or written to the response. */
  handle: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * Has each new connection first; undefined if there is nothing to gain.
   * @param isAccepted whether a request may be answered here at all
   */
  hook: (isAccepted: (request: RequestHead) => boolean) => ConnectionHook | undefined;
  /** What openapi.json says of it. */
  describe: () => Promise<PassedInterface | undefined>;
  health: () => HealthReport;
  checks?: () => Promise<readonly DeviceCheck[]>;
  metrics: () => readonly Metric[];
  close: () => void;
}

/** Who asks, and for whom. */
export type RequestHead = Pick<IncomingMessage, 'headers' | 'socket'>;

/** What every feature may use. It lives as long as the daemon. */
export interface FeatureContext {
  paths: Paths;
  log: Log;
  /** The configuration in force when asked. */
  config: () => Config;
  /** The whole environment that the device's programs get. */
  environment: Record<string, string>;
  /** The environment for scripts of packages, which have to know another root than `/`. */
  scriptEnvironment: Record<string, string>;
  processes: Processes;
  notes: Notes;
  events: DeviceEvents;
  queue: Pick<
    Queue,
    'get' | 'all' | 'newest' | 'stop' | 'dismiss' | 'onChange' | 'keepWhile' | 'onForget'
  >;
  /**
   * Asks for a job of a kind that one of the features brings.
   * @throws DepotError unavailable while the daemon stops, no_space if the job cannot be recorded
   */
  submit: (kind: string, subject: string, params: Record<string, string>) => Promise<Submission>;
  /**
   * Sets an option in the owner's configuration file and has the daemon read it.
   * @throws DepotError internal, unavailable or no_space if it cannot be written
   */
  setOption: (place: { section: string; option: string }, value: string) => Promise<void>;
  logs: TaskLogs;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
}

/** One configuration as it is served. The next one is prepared while this one still answers. */
export interface Served {
  config: Config;
  /** What all features give together under this configuration. */
  overview: Overview;
}

export interface Overview {
  routes: () => readonly Route[];
  /** What is passed on and has no route here. */
  passed: () => Promise<readonly PassedInterface[]>;
  documentation: () => Promise<readonly FeatureDocumentation[]>;
  health: () => Promise<Required<HealthReport>>;
  checks: () => Promise<readonly DeviceCheck[]>;
  metrics: () => readonly Metric[];
}
