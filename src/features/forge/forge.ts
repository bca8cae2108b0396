import { readFileSync } from 'node:fs';
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  STALLED_MS,
  type ConnectionHook,
} from '../../http/connection-hook.ts';
import type { Metric } from '../../http/metrics-text.ts';
import type { PassedInterface } from '../../http/openapi/documentation.ts';
import type { Log } from '../../log.ts';
import type { CallerRequest, CallerResponse } from './caller.ts';
import { createCredentials, type PanelSession } from './credentials.ts';
import type { ForgeEvent } from './events.ts';
import { createFastPath } from './fast-path/fast-path.ts';
import { createHealth, type ForgeHealth, type HealthRecord } from './health.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { ForgeSettings } from './options.ts';
import { createProxy } from './proxy.ts';
import { createRouteMatcher } from './routes.ts';
import { createBodyReader } from './target-change.ts';
import { createTargetReader, type TargetReader } from './target.ts';
import { parseUpstream, type UpstreamAddress } from './upstream/address.ts';
import { createSocketOpener } from './upstream/open-socket.ts';
import { createPool, type Pool } from './upstream/pool.ts';

export interface ForgeOptions {
  settings: ForgeSettings;
  /** Root of the CGI tree, such as `/cgi-bin/panel`: the API is reachable below it too. */
  base: string;
  log: Log;
  /** Gets each of the four notifications, once, after the forge has confirmed it. */
  publish: (event: ForgeEvent) => void;
  /**
   * The valid panel session of a request, if it has one; asked only if the device has a token to
   * lend.
   */
  session: (request: CallerRequest) => Promise<PanelSession | undefined>;
}

/**
 * The forge behind the device: every documented operation, passed on byte
 * for byte.
 */
export interface Forge {
  /** Whether a raw request target belongs here; cheap, and safe on any text. */
  owns(rawTarget: string): boolean;
  /**
   * Answers the request, whatever it is. Nothing else may have read from it or written to the
   * response.
   */
  handle(request: CallerRequest, response: CallerResponse): void;
  /**
   * Has new connections before Node's server, for plain requests to the forge; undefined if there
   * is none. Connections that it has outlive `close`; then all they bring is for Node's server.
   * `isAccepted`: whether a request may be answered here at all.
   */
  hook(isAccepted: (request: CallerRequest) => boolean): ConnectionHook | undefined;
  /** The documented operations; undefined if no forge is configured. */
  describe(): Promise<PassedInterface | undefined>;
  /** What is known of the upstream, for /healthz. */
  health(): ForgeHealth;
  /** Figures of what was passed on, for /metrics. */
  metrics(): Metric[];
  /** Ends the connections to the forge; requests under way are answered 503 or broken off. */
  close(): Promise<void>;
}

/** A client that believes in the announced keep-alive time may just be sending. */
const SENDING_MS = 1000;

/**
 * For a device that has one configured.
 * @throws Error if `ca_file` cannot be read: without it no connection could be trusted
 */
export function createForge(options: ForgeOptions): Forge {
  const { settings, base } = options;
  const address = parseUpstream(settings.upstream);
  const services: Services = {
    targets: createTargetReader({ path: settings.path, base }),
    metrics: createMetrics(),
    health: createHealth(),
  };
  const pool = openPool(options, address, services.health);
  let isClosed = false;
  const handle = proxyOf(options, services, { address, pool });
  return {
    owns: (rawTarget) => services.targets.owns(rawTarget),
    handle,
    hook: (isAccepted) =>
      createFastPath({
        handle: (request, response) => {
          if (isClosed || !services.targets.owns(request.url) || !isAccepted(request)) return false;
          handle(request, response);
          return true;
        },
        firstRequestMs: HEADERS_TIMEOUT_MS,
        keepAliveMs: KEEP_ALIVE_MS + SENDING_MS,
        stalledMs: STALLED_MS,
      }),
    describe: async () => (await import('./documentation.ts')).describeForge(settings.path),
    health: () => services.health.report(),
    metrics: () => services.metrics.report(pool.stats()),
    close: () => {
      isClosed = true;
      pool.close();
      return Promise.resolve();
    },
  };
}

interface Services {
  targets: TargetReader;
  metrics: Metrics;
  health: HealthRecord;
}

function openPool(
  { settings }: ForgeOptions,
  address: UpstreamAddress,
  health: HealthRecord,
): Pool {
  const certificateAuthority =
    settings.ca_file === '' ? undefined : readFileSync(settings.ca_file, 'utf8');
  const timeouts = {
    connectMs: settings.connect_timeout_s * 1000,
    firstByteMs: settings.first_byte_timeout_s * 1000,
    idleMs: settings.idle_timeout_s * 1000,
  };
  return createPool({
    timeouts,
    open: createSocketOpener({ address, certificateAuthority }),
    connected: () => health.reached(),
  });
}

function proxyOf(
  { settings, log, publish, session }: ForgeOptions,
  services: Services,
  { address, pool }: { address: UpstreamAddress; pool: Pool },
): Forge['handle'] {
  return createProxy({
    ...services,
    address,
    pool,
    apiRoot: settings.path,
    matchRoute: createRouteMatcher(settings.expose),
    readAhead: createBodyReader(),
    credentials: createCredentials({ tokenFile: settings.token_file, session }),
    log,
    publish: (event) => {
      log.info(event, 'forge_event');
      publish(event);
    },
  });
}
