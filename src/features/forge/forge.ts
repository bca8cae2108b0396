import { readFileSync } from 'node:fs';
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  STALLED_MS,
  type ConnectionHook,
} from '../../http/connection-hook.ts';
import type { Log } from '../../log.ts';
import type { PassThrough } from '../feature.ts';
import type { CallerRequest, CallerResponse } from './caller.ts';
import { createCredentials, type PanelSession } from './credentials.ts';
import type { ForgeEvent } from './events.ts';
import { createFastPath } from './fast-path/fast-path.ts';
import { createHealth, type ForgeHealth } from './health.ts';
import { createMetrics } from './metrics.ts';
import type { ForgeSettings } from './options.ts';
import { createProxy } from './proxy.ts';
import { createRouteMatcher } from './routes.ts';
import { createBodyReader } from './target-change.ts';
import { createTargetReader } from './target.ts';
import { parseUpstream } from './upstream/address.ts';
import { createSocketOpener } from './upstream/open-socket.ts';
import { createPool } from './upstream/pool.ts';

export interface ForgeOptions {
  settings: ForgeSettings;
  /** Root of the CGI tree, such as `/cgi-bin/panel`: the API is reachable below it too. */
  base: string;
  log: Log;
  /** Gets each of the four notifications, once, after the forge has confirmed it. */
  publish: (event: ForgeEvent) => void;
  /** The request's valid panel session; asked only if there is a token to lend. */
  session: (request: CallerRequest) => Promise<PanelSession | undefined>;
}

/**
 * Passes on every documented operation, byte for byte. Connections that its hook has outlive
 * `close`; then all they bring is for Node's server. Requests under way are answered 503 or broken
 * off.
 */
export interface Forge extends Omit<PassThrough, 'handle' | 'hook' | 'health' | 'checks'> {
  /** Answers the request, whatever it is. */
  handle: (request: CallerRequest, response: CallerResponse) => void;
  hook: (isAccepted: (request: CallerRequest) => boolean) => ConnectionHook | undefined;
  /** What is known of the upstream. */
  health: () => ForgeHealth;
}

/** A client that believes in the announced keep-alive time may just be sending. */
const SENDING_MS = 1000;

/** @throws Error if `ca_file` cannot be read: without it no connection could be trusted */
export function createForge({ settings, base, log, publish, session }: ForgeOptions): Forge {
  const address = parseUpstream(settings.upstream);
  const targets = createTargetReader({ path: settings.path, base });
  const metrics = createMetrics();
  const health = createHealth();
  const authority = settings.ca_file === '' ? undefined : readFileSync(settings.ca_file, 'utf8');
  const pool = createPool({
    timeouts: {
      connectMs: settings.connect_timeout_s * 1000,
      firstByteMs: settings.first_byte_timeout_s * 1000,
      idleMs: settings.idle_timeout_s * 1000,
    },
    open: createSocketOpener(address, authority),
    connected: health.reached,
  });
  let isClosed = false;
  const handle = createProxy({
    address,
    apiRoot: settings.path,
    targets,
    matchRoute: createRouteMatcher(settings.expose),
    credentials: createCredentials({ tokenFile: settings.token_file, session }),
    readAhead: createBodyReader(),
    pool,
    metrics,
    health,
    log,
    publish: (event) => {
      log.info(event, 'forge_event');
      publish(event);
    },
  });
  return {
    owns: targets.owns,
    handle,
    hook: (isAccepted) =>
      createFastPath({
        handle: (request, response) => {
          if (isClosed || !targets.owns(request.url) || !isAccepted(request)) return false;
          handle(request, response);
          return true;
        },
        firstRequestMs: HEADERS_TIMEOUT_MS,
        keepAliveMs: KEEP_ALIVE_MS + SENDING_MS,
        stalledMs: STALLED_MS,
      }),
    describe: async () => (await import('./documentation.ts')).describeForge(settings.path),
    health: health.report,
    metrics: () => metrics.report(pool.stats()),
    close: () => {
      isClosed = true;
      pool.close();
    },
  };
}
