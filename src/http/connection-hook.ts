import type { Socket } from 'node:net';

/**
 * What a connection is doing. `idle`: nothing of a request has come. `receiving`: a part of its
 * headers, a body that nobody waits for, or one that does not come (a form, or a slow one).
 * `draining`: all of the answer waits for a client that reads slowly. `busy`: a request is under
 * way.
 */
export type Activity = 'idle' | 'receiving' | 'draining' | 'busy';

/** Node's HTTP server behind a hook. */
export interface NextServer {
  /**
   * Gives the connection to Node's server. What was read of it has been put back (`unshift`), and
   * the hook has returned before.
   */
  handOver: () => void;
  /** Tells a client that its first request did not come in time. */
  refuseLate: () => void;
}

/** Decides when to hand over a new connection, if ever. @returns what says what that is doing */
export type ConnectionHook = (socket: Socket, next: NextServer) => () => Activity;

/** A client gets this long to send the headers of a request. */
export const HEADERS_TIMEOUT_MS = 20_000;
/** How long an idle connection is kept, as its answers announce. */
export const KEEP_ALIVE_MS = 5000;
/** A client that takes nothing of its answer for this long loses the connection. */
export const STALLED_MS = 60_000;
