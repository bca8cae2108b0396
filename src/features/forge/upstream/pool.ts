import { isReading } from '../routes.ts';
import type { Call, CallFailure, ResponseSink } from './call.ts';
import { createConnection, type Connection, type ConnectionOwner } from './upstream-connection.ts';

export type Pool = ReturnType<typeof createPool>;
export type PoolStats = ReturnType<Pool['stats']>;
type PoolOptions = Pick<ConnectionOwner, 'timeouts' | 'open' | 'connected'>;

const MAX_CONNECTIONS = 512;
const MAX_WAITING = 1024;
const SWEEP_MS = 250;
/** A call that must not be sent twice takes no connection idle for longer: it may be closing. */
const FRESH_MS = 1000;

/**
 * Keep-alive connections to one forge, bounded in number. Invariants:
 * - at most `MAX_CONNECTIONS` are open and `MAX_WAITING` calls wait, first come first served;
 * - a call is sent a second time only if it is GET, HEAD or OPTIONS without a body and the first
 *   went to a connection that had served before and was closed without a byte of an answer (RFC
 *   9110, section 9.2.2; RFC 9112, section 9.3.1);
 * - every connection and every waiting call has a deadline, looked at every `SWEEP_MS`.
 */
export function createPool(options: PoolOptions) {
  const state: State = {
    options,
    connections: new Set(),
    idle: [],
    resting: [],
    waiting: [],
    isClosed: false,
    sweeper: undefined,
  };
  return {
    /** @returns what ends the call early; harmless after its end */
    send: (call: Call, sink: ResponseSink): (() => void) => {
      const begun = { connection: undefined, isOver: false, isRetry: false, waitsUntil: 0 };
      return send(state, { call, sink, ...begun });
    },
    stats: () => ({
      open: state.connections.size,
      idle: state.idle.length + state.resting.length,
      waiting: state.waiting.length,
    }),
    /** Ends every connection; calls under way fail. */
    close: (): void => {
      state.isClosed = true;
      for (const ticket of state.waiting.splice(0)) ticket.sink.fail(STOPPING);
      for (const connection of state.connections) connection.destroy(STOPPING);
    },
  };
}

interface State {
  options: PoolOptions;
  connections: Set<Connection>;
  idle: Connection[];
  /** Connections that came to rest in this turn of the event loop. */
  resting: Connection[];
  waiting: Ticket[];
  isClosed: boolean;
  /** Runs while there are connections. */
  sweeper: NodeJS.Timeout | undefined;
}

/** One call on its way through the pool. */
interface Ticket {
  call: Call;
  sink: ResponseSink;
  connection: Connection | undefined;
  isOver: boolean;
  isRetry: boolean;
  /** Milliseconds of `performance.now()`. */
  waitsUntil: number;
}

const STOPPING: CallFailure = {
  code: 'unavailable',
  message: 'cannot finish the request: the daemon is stopping',
};

function send(state: State, ticket: Ticket): () => void {
  if (state.isClosed) ticket.sink.fail(STOPPING);
  else assign(state, ticket);
  return () => {
    if (ticket.isOver) return;
    ticket.isOver = true;
    const position = state.waiting.indexOf(ticket);
    if (position !== -1) state.waiting.splice(position, 1);
    else ticket.connection?.destroy();
  };
}

function assign(state: State, ticket: Ticket): void {
  const connection = popIdle(state, ticket) ?? openNew(state);
  if (connection !== undefined) run(state, ticket, connection);
  else if (state.waiting.length < MAX_WAITING) {
    ticket.waitsUntil = performance.now() + state.options.timeouts.firstByteMs;
    state.waiting.push(ticket);
  } else {
    const message = `cannot take the request: ${MAX_WAITING} wait for the forge already`;
    ticket.sink.fail({ code: 'unavailable', message });
  }
}

/** The connection used last, so that those not needed run out; a second try gets a new one. */
function popIdle({ idle }: State, { call, isRetry }: Ticket): Connection | undefined {
  const last = idle.at(-1);
  if (last === undefined || isRetry) return undefined;
  return isRepeatable(call) || performance.now() - last.idleSince < FRESH_MS
    ? idle.pop()
    : undefined;
}

function openNew(state: State): Connection | undefined {
  const { connections, idle, options } = state;
  if (connections.size >= MAX_CONNECTIONS) idle[0]?.destroy();
  if (connections.size >= MAX_CONNECTIONS) return undefined;
  const connection = createConnection({
    ...options,
    idle: (free) => rest(state, free),
    closed: (gone) => forget(state, gone),
  });
  connections.add(connection);
  state.sweeper ??= setInterval(() => sweep(state), SWEEP_MS).unref();
  return connection;
}

function run(state: State, ticket: Ticket, connection: Connection): void {
  ticket.connection = connection;
  connection.start(ticket.call, watch(state, ticket));
}

/** The caller's sink, but for a failure that a second try may heal. */
function watch(state: State, ticket: Ticket): ResponseSink {
  const { sink } = ticket;
  return {
    head: sink.head,
    body: sink.body,
    end: () => {
      ticket.isOver = true;
      sink.end();
    },
    fail: (failure) => {
      if (!state.isClosed && mayRetry(ticket, failure)) {
        ticket.isRetry = true;
        assign(state, ticket);
        return;
      }
      ticket.isOver = true;
      sink.fail(failure);
    },
  };
}

function mayRetry({ call, isRetry, isOver }: Ticket, { isStale }: CallFailure): boolean {
  return isStale === true && !isRetry && !isOver && isRepeatable(call);
}

function isRepeatable({ method, body }: Call): boolean {
  return body === undefined && isReading(method);
}

/** One turn of the event loop ends this reading, the second comes after all were looked at. */
function rest(state: State, connection: Connection): void {
  if (state.resting.length === 0) {
    setImmediate(() => setImmediate(wake, state, state.resting.splice(0)));
  }
  state.resting.push(connection);
}

function wake(state: State, rested: Connection[]): void {
  for (const connection of rested) {
    if (!state.connections.has(connection)) continue;
    const next = state.waiting.shift();
    if (next === undefined) state.idle.push(connection);
    else run(state, next, connection);
  }
}

function forget(state: State, connection: Connection): void {
  const { connections, idle, waiting } = state;
  connections.delete(connection);
  const position = idle.indexOf(connection);
  if (position !== -1) idle.splice(position, 1);
  const next = state.isClosed ? undefined : waiting.shift();
  if (next !== undefined) assign(state, next);
  if (connections.size > 0) return;
  clearInterval(state.sweeper);
  state.sweeper = undefined;
}

function sweep({ connections, waiting }: State): void {
  const now = performance.now();
  for (const connection of connections) if (connection.deadlineAt < now) connection.expire();
  const message = 'cannot get a connection to the forge in time: all are in use';
  while (waiting[0] !== undefined && waiting[0].waitsUntil < now) {
    waiting.shift()?.sink.fail({ code: 'upstream_timeout', message });
  }
}
