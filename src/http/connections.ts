import type { Socket } from 'node:net';
import { isLoopback } from '../config/ip-address.ts';
import type { Activity } from './connection-hook.ts';
import { networkOf } from './network.ts';

export type Connections = ReturnType<typeof createConnections>;

export interface Connection {
  socket: Socket;
  /** When the connection came, by the clock of `performance.now`. */
  since: number;
  /** Address of the client; undefined on a unix socket. */
  address: string | undefined;
  activity: () => Activity;
}

/** Numbers of connections. */
export interface ConnectionBounds {
  all: number;
  /** Connections of all addresses but this host's. */
  remote: number;
  /** Connections of one address; of one /64 for IPv6. */
  address: number;
  /** Connections of this host: loopback addresses, or a unix socket. */
  local: number;
}

/**
 * A connection costs some 20 KB. A browser opens six, and one more for each page that follows
 * events; a device's processes may have 1024 files or more.
 */
export const CONNECTION_BOUNDS: ConnectionBounds = {
  all: 1000,
  remote: 750,
  address: 128,
  local: 936,
};

const LOCAL = 'local';

/**
 * The connections of one listener, and who may hold how many. Invariants:
 * - within its bound, an address finds room whatever other addresses hold; this host and the others
 *   have shares of their own;
 * - at a bound, the oldest idle connection below the same bound makes room, else the oldest whose
 *   client does not send its request, else one whose client does not read its answer; a request
 *   under way is never ended for another connection;
 * - a connection is idle when nothing has come for a second: the newest of many could not send its
 *   request in time else.
 */
export function createConnections(bounds = CONNECTION_BOUNDS) {
  const groups: Groups = new Map();
  const all = (): Connection[] => [...groups.values()].flatMap((group) => [...group]);
  const close = (isMeant: (connection: Connection) => boolean): void => {
    for (const connection of all()) if (isMeant(connection)) connection.socket.destroy();
  };
  return {
    /** Takes a connection in, if there is room for it. */
    admit: (connection: Connection): boolean => {
      const key = keyOf(connection.address);
      if (!makeRoom(groups, key, bounds)) return false;
      const group = groups.get(key) ?? new Set();
      groups.set(key, group.add(connection));
      connection.socket.once('close', () => remove(groups, key, connection));
      return true;
    },
    /** Ends the connections that wait for a request. */
    closeIdle: () => close(({ activity }) => activity() === 'idle'),
    closeAll: () => close(() => true),
  };
}

function keyOf(address: string | undefined): string {
  return address === undefined || isLoopback(address) ? LOCAL : networkOf(address);
}

/** Connections by network, the oldest first. */
type Groups = Map<string, Set<Connection>>;

function remove(groups: Groups, key: string, connection: Connection): void {
  const group = groups.get(key);
  group?.delete(connection);
  if (group?.size === 0) groups.delete(key);
}

function makeRoom(groups: Groups, key: string, bounds: ConnectionBounds): boolean {
  const isLocal = key === LOCAL;
  if ((groups.get(key)?.size ?? 0) >= (isLocal ? bounds.local : bounds.address)) {
    return evict(groups, [key]);
  }
  const local = groups.get(LOCAL)?.size ?? 0;
  const total = [...groups.values()].reduce((sum, { size }) => sum + size, 0);
  if (!isLocal && total - local >= bounds.remote) {
    return evict(
      groups,
      largestFirst(groups).filter((name) => name !== LOCAL),
    );
  }
  return total < bounds.all || evict(groups, largestFirst(groups));
}

function largestFirst(groups: Groups): string[] {
  return [...groups].sort(([, one], [, other]) => other.size - one.size).map(([name]) => name);
}

const NEW_MS = 1000;

function stateOf({ activity, since }: Connection, now: number): Activity | 'new' {
  const current = activity();
  return current === 'idle' && now - since < NEW_MS ? 'new' : current;
}

/** Ends one connection of these groups, of the first that has one to spare. */
function evict(groups: Groups, names: readonly string[]): boolean {
  const now = performance.now();
  for (const wanted of ['idle', 'receiving', 'draining', 'new'] as const) {
    for (const name of names) {
      for (const connection of groups.get(name) ?? []) {
        if (stateOf(connection, now) !== wanted) continue;
        connection.socket.destroy();
        remove(groups, name, connection);
        return true;
      }
    }
  }
  return false;
}
