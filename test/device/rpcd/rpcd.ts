import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';

import {
  readAttributes,
  readTable,
  readText,
  writeAttribute,
  writeTable,
  writeText,
  type UbusTable,
  type UbusValue,
} from '../../../src/device/ubus/blob.ts';
import { createFrameReader, frameOf, numberOf } from './ubus-frames.ts';

/**
 * A stand-in for ubusd (3cc98db) with rpcd's object `session` (4476687), for machines that have
 * none. It acts out what the tests and depotd use, and refuses everything else; rpcd-contract/ holds
 * it to the real ones. root's password is labpass; reader, writer and plain have "reads only 1"; and
 * may read, change, or do nothing by the access group `depotd`.
 */
export interface RpcdStandIn {
  /** From now on a log-in of this user gives this session, as while a change waits there. */
  awaitConfirm: (id: string) => void;
  /** procd's object `service`: whether each of these runs. */
  services: Record<string, boolean>;
  /** What was sent to whoever listens, in its order. */
  events: UbusTable[];
  close: () => Promise<void>;
}

const MESSAGE = { hello: 0, status: 1, data: 2, lookup: 4, invoke: 5 };
const ATTRIBUTE = {
  status: 1,
  path: 2,
  objectId: 3,
  method: 4,
  objectType: 5,
  signature: 6,
  data: 7,
};
/** UBUS_SYSTEM_OBJECT_EVENT (ubus, ubusmsg.h). */
const UBUSD_EVENTS = 1;
const STATUS = { ok: 0, badArgument: 2, noMethod: 3, notFound: 4, denied: 6 };

const USERS: Record<string, { password: string; rights: string[] }> = {
  root: { password: 'labpass', rights: ['read', 'write'] },
  reader: { password: 'reads only 1', rights: ['read'] },
  writer: { password: 'reads only 1', rights: ['read', 'write'] },
  plain: { password: 'reads only 1', rights: [] },
};
const EVERYBODY = '0'.repeat(32);
const DEFAULT_TIMEOUT_S = 300;

interface StoredSession {
  id: string;
  timeoutS: number;
  endsAt: number;
  rights: string[];
  values: UbusTable;
}

type Answer = { status: number; messages?: UbusTable[] };

export async function startRpcd(path: string): Promise<RpcdStandIn> {
  const sessions = createSessions();
  const services: Record<string, boolean> = {};
  const events: UbusTable[] = [];
  const sockets = new Set<Socket>();
  const objectId = randomBytes(4).readUInt32BE();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    socket.write(
      frameOf({ type: MESSAGE.hello, sequence: 0, peer: randomBytes(4).readUInt32BE() }),
    );
    const read = createFrameReader(({ type, sequence, body }) => {
      const attributes = new Map(readAttributes(body).map(({ id, data }) => [id, data]));
      const answer = answerTo(type, attributes, { objectId, sessions, services, events });
      for (const data of answer.data) {
        socket.write(frameOf({ type: MESSAGE.data, sequence, peer: objectId }, data));
      }
      const status = [writeAttribute(ATTRIBUTE.status, numberOf(answer.status))];
      socket.write(frameOf({ type: MESSAGE.status, sequence, peer: objectId }, status));
    });
    socket.on('data', read);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return {
    awaitConfirm: sessions.awaitConfirm,
    services,
    events,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(path, { force: true });
    },
  };
}

function answerTo(
  type: number,
  attributes: ReadonlyMap<number, Buffer>,
  {
    objectId,
    sessions,
    services,
    events,
  }: {
    objectId: number;
    sessions: ReturnType<typeof createSessions>;
    services: Readonly<Record<string, boolean>>;
    events: UbusTable[];
  },
): { status: number; data: Buffer[][] } {
  const bytesOf = (id: number): Buffer => attributes.get(id) ?? Buffer.alloc(0);
  if (type === MESSAGE.lookup) {
    const path = readText(bytesOf(ATTRIBUTE.path));
    const hasServices = Object.keys(services).length > 0;
    return lookUp(path, { session: objectId, ...(hasServices && { service: objectId - 1 }) });
  }
  if (type !== MESSAGE.invoke) throw new Error(`not acted out: a message of the type ${type}`);
  const called = attributes.get(ATTRIBUTE.objectId)?.readUInt32BE();
  const message = readTable(bytesOf(ATTRIBUTE.data));
  if (called === UBUSD_EVENTS) {
    events.push(message);
    return { status: STATUS.ok, data: [] };
  }
  if (called !== objectId && called !== objectId - 1) {
    return { status: STATUS.notFound, data: [] };
  }
  const method = readText(bytesOf(ATTRIBUTE.method));
  const { status, messages = [] } =
    called === objectId ? sessions.call(method, message) : listServices(services, message);
  return {
    status,
    data: messages.map((table) => [
      writeAttribute(ATTRIBUTE.objectId, numberOf(objectId)),
      writeAttribute(ATTRIBUTE.data, writeTable(table)),
    ]),
  };
}

function lookUp(
  path: string,
  objects: Readonly<Record<string, number>>,
): { status: number; data: Buffer[][] } {
  const id = Object.hasOwn(objects, path) ? objects[path] : undefined;
  if (id === undefined) return { status: STATUS.notFound, data: [] };
  const found = [
    writeAttribute(ATTRIBUTE.path, writeText(path)),
    writeAttribute(ATTRIBUTE.objectId, numberOf(id)),
    writeAttribute(ATTRIBUTE.objectType, numberOf(1)),
    writeAttribute(ATTRIBUTE.signature, Buffer.alloc(0)),
  ];
  return { status: STATUS.ok, data: [found] };
}

/** As procd answers `service list` (procd, service/service.c). */
function listServices(services: Readonly<Record<string, boolean>>, { name }: UbusTable): Answer {
  const wanted = Object.entries(services).filter(([each]) => each === name);
  const tables = wanted.map(([each, running]) => [each, { instances: { first: { running } } }]);
  return { status: STATUS.ok, messages: [Object.fromEntries(tables) as UbusTable] };
}

function createSessions() {
  const all = new Map<string, StoredSession>();
  let confirming = '';
  all.set(EVERYBODY, { id: EVERYBODY, timeoutS: 0, endsAt: 0, rights: [], values: {} });

  const sweep = (): void => {
    for (const { id, timeoutS, endsAt } of all.values()) {
      if (timeoutS > 0 && performance.now() >= endsAt) all.delete(id);
    }
  };
  /** As in the real one, whoever asks for a session renews its idle time. */
  const find = (message: UbusTable): StoredSession | undefined => {
    const session = all.get(textOf(message.ubus_rpc_session));
    if (session !== undefined) session.endsAt = performance.now() + session.timeoutS * 1000;
    return session;
  };
  const begin = (timeoutS: number, rights: string[]): StoredSession => {
    const id = randomBytes(16).toString('hex');
    const endsAt = performance.now() + timeoutS * 1000;
    const session = { id, timeoutS, endsAt, rights, values: {} };
    all.set(id, session);
    return session;
  };
  const withSession = (message: UbusTable, use: (session: StoredSession) => Answer): Answer => {
    if (typeof message.ubus_rpc_session !== 'string') return { status: STATUS.badArgument };
    const session = find(message);
    return session === undefined ? { status: STATUS.notFound } : use(session);
  };

  const METHODS: Record<string, (message: UbusTable) => Answer> = {
    create: ({ timeout = DEFAULT_TIMEOUT_S }) => ok(dump(begin(Number(timeout), []))),
    login: ({ username, password, timeout = DEFAULT_TIMEOUT_S }) => {
      if (typeof username !== 'string' || typeof password !== 'string') {
        return { status: STATUS.badArgument };
      }
      const user = Object.hasOwn(USERS, username) ? USERS[username] : undefined;
      if (user?.password !== password) return { status: STATUS.denied };
      const waiting = all.get(confirming);
      const session =
        waiting?.values.username === username ? waiting : begin(Number(timeout), user.rights);
      session.values.username = username;
      return ok(dump(session));
    },
    list: (message) =>
      message.ubus_rpc_session === undefined
        ? { status: STATUS.ok, messages: [...all.values()].map(dump) }
        : withSession(message, (session) => ok(dump(session))),
    get: (message) => withSession(message, ({ values }) => ok({ values })),
    set: (message) =>
      withSession(message, (session) => {
        Object.assign(session.values, message.values);
        return { status: STATUS.ok };
      }),
    access: (message) =>
      withSession(message, ({ rights }) => {
        const { scope, object, function: right } = message;
        if (scope !== 'access-group') throw new Error(`not acted out: the scope ${textOf(scope)}`);
        return ok({ access: object === 'depotd' && rights.includes(textOf(right)) });
      }),
    destroy: (message) =>
      withSession(message, ({ id }) => {
        if (id === EVERYBODY) return { status: STATUS.denied };
        all.delete(id);
        return { status: STATUS.ok };
      }),
  };
  return {
    awaitConfirm: (id: string): void => {
      confirming = id;
    },
    call: (method: string, message: UbusTable): Answer => {
      sweep();
      const run = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
      return run === undefined ? { status: STATUS.noMethod } : run(message);
    },
  };
}

function textOf(value: UbusValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function ok(message: UbusTable): Answer {
  return { status: STATUS.ok, messages: [message] };
}

function dump({ id, timeoutS, endsAt, rights, values }: StoredSession): UbusTable {
  const leftS = timeoutS === 0 ? 0 : Math.max(0, Math.floor((endsAt - performance.now()) / 1000));
  const acls: UbusTable = rights.length === 0 ? {} : { 'access-group': { depotd: rights } };
  return { ubus_rpc_session: id, timeout: timeoutS, expires: leftS, acls, data: values };
}
