import * as v from 'valibot';
import { createConcurrencyLimit, type ConcurrencyLimit } from '../../device/concurrency-limit.ts';
import {
  UBUS_STATUS,
  withUbus,
  type UbusCall,
  type UbusReply,
} from '../../device/ubus/ubus-connection.ts';
import type { UbusTable, Wanted } from '../../device/ubus/blob.ts';
import { DepotError } from '../../errors.ts';

/** rpcd answers within milliseconds; counted from the question, waiting for a turn included. */
const TIMEOUT_MS = 3000;
/** A log-in computes a hash, which a slow device may be at for seconds. */
const LOG_IN_TIMEOUT_MS = 10_000;
const MOST_AT_ONCE = 2;
const MOST_WAITING = 64;

/** rpcd's session ids. The one of zeros is everybody's: whoever has not logged in. */
export function isSessionId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text) && !/^0+$/.test(text);
}

/** A log-in session of rpcd, which logs people in to the device's admin panel. */
export interface RpcdSession {
  id: string;
  username: string;
  /** LuCI's request-forgery token; none in a session that LuCI did not begin. */
  token: string | undefined;
  /** Whether rpcd's access group `depotd` lets the user read; `root` always may. */
  mayRead: boolean;
  mayWrite: boolean;
}

export type Rpcd = ReturnType<typeof createRpcd>;

/**
 * Who is logged in to the device: rpcd's object `session` on ubus. Those who are known, strangers,
 * log-ins and looks at all sessions wait in lines of their own, so that a flood in one holds nobody
 * in another. What it does throws DepotError unavailable if rpcd cannot be asked.
 * Source: docs/reference/rpcd-sessions.md.
 * @param socketPath ubusd's socket
 */
export function createRpcd({ socketPath }: { socketPath: string }) {
  const createLine = (): ConcurrencyLimit =>
    createConcurrencyLimit({
      most: MOST_AT_ONCE,
      mostWaiting: MOST_WAITING,
      busy: `cannot ask rpcd: ${MOST_WAITING} requests wait for it already`,
    });
  const lines = {
    known: createLine(),
    strangers: createLine(),
    trustedLogIns: createLine(),
    logIns: createLine(),
    lists: createLine(),
  };
  const ask = <Value>(
    line: ConcurrencyLimit,
    use: (call: SessionCall) => Promise<Value>,
    { timeoutMs = TIMEOUT_MS, client = '' } = {},
  ): Promise<Value> => {
    const endsAt = performance.now() + timeoutMs;
    return line(
      () =>
        withUbus(
          { socketPath, timeoutMs: Math.max(1, Math.round(endsAt - performance.now())) },
          (callUbus) => use((call) => callUbus({ object: 'session', ...call })),
        ),
      client,
    );
  };
  return {
    /**
     * Renews the session's idle time. `isKnown` says that it was valid a moment ago: then it does
     * not stand behind those who may be anybody, of whom each `client` has its turn.
     * @returns undefined if rpcd knows no such session, or nobody has logged in to it
     */
    find: ({ id, isKnown, client = '' }: { id: string; isKnown: boolean; client?: string }) =>
      ask(isKnown ? lines.known : lines.strangers, (call) => findSession(call, id), { client }),
    /** By id; leaves idle times as they are. May lack some, and rights that a pattern grants. */
    list: () => ask(lines.lists, listSessions),
    /**
     * Who `isTrusted` does not stand behind strangers.
     * @returns undefined if rpcd refuses; `isShared`: the session was there before, and is in use
     */
    logIn: ({ isTrusted, client, ...login }: Login & { isTrusted: boolean; client: string }) =>
      ask(isTrusted ? lines.trustedLogIns : lines.logIns, (call) => logIn(call, login), {
        timeoutMs: LOG_IN_TIMEOUT_MS,
        client,
      }),
    /** Ends it; one that has ended already is fine. */
    destroy: (id: string): Promise<void> =>
      ask(lines.known, async (call) => {
        const reply = await call({ method: 'destroy', message: { ubus_rpc_session: id } });
        if (reply.status !== UBUS_STATUS.notFound) messageOf(reply);
      }),
  };
}

interface Login {
  username: string;
  password: string;
  /** How long the session may be idle. */
  timeoutS: number;
}

type SessionCall = (call: Omit<UbusCall, 'object'>) => Promise<UbusReply>;

/** Each of these calls renews the session's idle time. */
async function findSession(call: SessionCall, id: string): Promise<RpcdSession | undefined> {
  if (!isSessionId(id)) return undefined;
  const reply = await call({
    method: 'get',
    message: { ubus_rpc_session: id },
    wanted: { values: OWN_VALUES },
  });
  if (reply.status === UBUS_STATUS.notFound || reply.status === UBUS_STATUS.permissionDenied) {
    return undefined;
  }
  const { username, token } = read(valuesMessage, messageOf(reply)).values;
  if (username === undefined) return undefined;
  if (username === OWNER) return { id, username, token, mayRead: true, mayWrite: true };
  const [mayRead, mayWrite] = await Promise.all([
    mayDo(call, id, 'read'),
    mayDo(call, id, 'write'),
  ]);
  return { id, username, token, mayRead: mayRead || mayWrite, mayWrite };
}

/** Needs no right of anybody's. */
const OWNER = 'root';
const ACCESS_GROUP = 'depotd';

async function mayDo(call: SessionCall, id: string, right: 'read' | 'write'): Promise<boolean> {
  const reply = await call({
    method: 'access',
    message: {
      ubus_rpc_session: id,
      scope: 'access-group',
      object: ACCESS_GROUP,
      function: right,
    },
  });
  return reply.status === UBUS_STATUS.ok && read(accessMessage, messageOf(reply)).access;
}

/** Without an id: the one call that renews no idle time. Shows rights granted by name alone. */
async function listSessions(call: SessionCall): Promise<Map<string, RpcdSession>> {
  const reply = await call({ method: 'list', message: {}, wanted: LISTED });
  if (reply.status !== UBUS_STATUS.ok) throw unexpected(reply.status);
  const sessions = reply.messages.flatMap((message): RpcdSession[] => {
    const { ubus_rpc_session: id, data, acls } = read(listMessage, message);
    const { username, token } = data;
    if (username === undefined || !isSessionId(id)) return [];
    const granted = acls['access-group'].depotd;
    const mayWrite = username === OWNER || granted.includes('write');
    return [{ id, username, token, mayRead: mayWrite || granted.includes('read'), mayWrite }];
  });
  return new Map(sessions.map((session) => [session.id, session]));
}

/**
 * A session that rpcd has just begun holds the user's name and nothing else. One that holds more,
 * or has another timeout, is that of another page: while a change of the configuration by the same
 * user waits to be confirmed, rpcd answers with the session that made it.
 */
async function logIn(
  call: SessionCall,
  { username, password, timeoutS }: Login,
): Promise<{ session: RpcdSession; isShared: boolean } | undefined> {
  const reply = await call({
    method: 'login',
    message: { username, password, timeout: timeoutS },
    wanted: { ubus_rpc_session: true, timeout: true, data: true },
  });
  if (reply.status === UBUS_STATUS.permissionDenied) return undefined;
  const begun = read(loginMessage, messageOf(reply));
  const session = await findSession(call, begun.ubus_rpc_session);
  if (session === undefined) throw unexpected(UBUS_STATUS.notFound);
  const isShared = Object.keys(begun.data).length > 1 || begun.timeout !== timeoutS;
  return { session, isShared };
}

function messageOf({ status, messages }: UbusReply): UbusTable {
  if (status !== UBUS_STATUS.ok) throw unexpected(status);
  return messages[0] ?? {};
}

function unexpected(status: number): DepotError {
  return new DepotError('unavailable', `cannot use what rpcd answers: its status is ${status}`);
}

function read<const Schema extends v.GenericSchema>(
  schema: Schema,
  message: UbusTable,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, message);
  if (!result.success) {
    const why = `cannot use what rpcd answers: ${result.issues[0].message}`;
    throw new DepotError('unavailable', why);
  }
  return result.output;
}

/** Other pages of the panel may keep anything in a session: only text counts. */
const ownText = v.fallback(v.optional(v.pipe(v.string(), v.minLength(1))), undefined);
const values = v.object({ username: ownText, token: ownText });
const granted = v.fallback(v.optional(v.array(v.string()), []), []);

const valuesMessage = v.object({ values });
const accessMessage = v.object({ access: v.boolean() });
const loginMessage = v.object({
  ubus_rpc_session: v.string(),
  timeout: v.number(),
  data: v.record(v.string(), v.unknown()),
});
const listMessage = v.object({
  ubus_rpc_session: v.string(),
  data: v.optional(values, {}),
  acls: v.optional(v.object({ 'access-group': v.optional(v.object({ depotd: granted }), {}) }), {}),
});

const OWN_VALUES: Wanted = { username: true, token: true };
const LISTED: Wanted = {
  ubus_rpc_session: true,
  data: OWN_VALUES,
  acls: { 'access-group': { [ACCESS_GROUP]: true } },
};
