import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readAttributes, readText, type UbusTable } from '../../src/device/ubus/blob.ts';
import { withUbus } from '../../src/device/ubus/ubus-connection.ts';
import { startRpcd } from '../device/rpcd/rpcd.ts';
import { createFrameReader } from '../device/rpcd/ubus-frames.ts';

export interface PanelLogin {
  id: string;
  token: string;
}

/** How ubusd answers from now on: as it should, or in one of the ways in which a bus can fail. */
export type PanelMode = 'good' | 'gone' | 'stuck' | 'garbled' | 'huge' | 'cut';

/** Who may log in to the panel, with the password, and what for. */
export type PanelUser = 'root' | 'reader' | 'writer' | 'plain';
export const PANEL_PASSWORDS: Record<PanelUser, string> = {
  root: 'labpass',
  reader: 'reads only 1',
  writer: 'reads only 1',
  plain: 'reads only 1',
};

/**
 * The panel's sessions: those of the real rpcd if UBUS_SOCKET says where ubusd listens, else those
 * of the stand-in.
 */
export interface Panel {
  /** For the daemon's environment. */
  env: Record<string, string>;
  /**
   * Logs in as LuCI does: a session, then its token. @param timeoutS how long the session may be
   * idle
   */
  logIn: (timeoutS?: number, user?: PanelUser) => Promise<PanelLogin>;
  /** A session to which somebody has logged in, but LuCI has not given a token yet. */
  logInWithoutToken: () => Promise<string>;
  /** A session to which nobody has logged in. */
  create: () => Promise<string>;
  logOut: (id: string) => Promise<void>;
  /** Ids, and after how many seconds without use each ends; does not count as use. */
  sessions: () => Promise<Map<string, number>>;
  /** The session's user changes the configuration, and has not confirmed it yet; stand-in only. */
  awaitConfirm: (id: string) => void;
  /** The methods that others than this called, in their order. */
  calls: () => string[];
  fail: (mode: PanelMode) => void;
  close: () => Promise<void>;
}

export const isRealRpcd = process.env.UBUS_SOCKET !== undefined;

export async function createPanel(): Promise<Panel> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-panel-'));
  const path = process.env.UBUS_SOCKET ?? join(folder, 'ubusd.sock');
  const standIn = isRealRpcd ? undefined : await startRpcd(path);
  const tap = await startTap(join(folder, 'ubus.sock'), path);

  const call = async (method: string, message: UbusTable): Promise<UbusTable[]> => {
    const { status, messages } = await withUbus({ socketPath: path, timeoutMs: 5000 }, (ask) =>
      ask({ object: 'session', method, message }),
    );
    if (status !== 0) throw new Error(`cannot call session ${method}: ${status}`);
    return messages;
  };
  const begin = async (method: string, message: UbusTable): Promise<string> =>
    idIn((await call(method, message))[0] ?? {});
  const logInWithoutToken = (timeout = 300, username: PanelUser = 'root'): Promise<string> =>
    begin('login', { username, password: PANEL_PASSWORDS[username], timeout });
  return {
    env: { DEPOTD_UBUS_SOCKET: join(folder, 'ubus.sock') },
    logIn: async (timeoutS, user) => {
      const id = await logInWithoutToken(timeoutS, user);
      const token = randomBytes(16).toString('hex');
      await call('set', { ubus_rpc_session: id, values: { token } });
      return { id, token };
    },
    logInWithoutToken,
    create: () => begin('create', { timeout: 300 }),
    logOut: async (id) => {
      await call('destroy', { ubus_rpc_session: id });
    },
    sessions: async () =>
      new Map((await call('list', {})).map((session) => [idIn(session), Number(session.expires)])),
    awaitConfirm: (id) => standIn?.awaitConfirm(id),
    calls: () => [...tap.calls],
    fail: tap.fail,
    close: async () => {
      await tap.close();
      await standIn?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function idIn({ ubus_rpc_session: id }: UbusTable): string {
  if (typeof id !== 'string') throw new Error('cannot find the id of a session');
  return id;
}

interface Tap {
  calls: string[];
  fail: (mode: PanelMode) => void;
  close: () => Promise<void>;
}

const INVOKE = 5;
const METHOD = 4;

/** Stands before ubusd, hears what is asked, and fails as it is told. */
async function startTap(path: string, target: string): Promise<Tap> {
  const calls: string[] = [];
  const sockets = new Set<Socket>();
  let mode: PanelMode = 'good';
  const hear = (): ((piece: Buffer) => void) =>
    createFrameReader(({ type, body }) => {
      if (type !== INVOKE) return;
      const method = readAttributes(body).find(({ id }) => id === METHOD);
      calls.push(readText(method?.data ?? Buffer.alloc(0)));
    });
  const server = createServer((client) => {
    sockets.add(client);
    client.on('close', () => sockets.delete(client)).on('error', () => client.destroy());
    client.on('data', hear());
    if (mode === 'gone') client.destroy();
    else if (mode === 'garbled') client.write('<html>{"values":{"username":"root","token":"x"}}');
    else if (mode === 'huge') for (let mib = 0; mib < 5; mib += 1) client.write(hugeFrame());
    else if (mode !== 'stuck') pass(client, target, mode);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    calls,
    fail: (next) => {
      mode = next;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pass(client: Socket, target: string, mode: PanelMode): void {
  const bus = connect(target);
  client.on('close', () => bus.destroy());
  bus.on('close', () => client.destroy()).on('error', () => client.destroy());
  client.pipe(bus);
  if (mode !== 'cut') bus.pipe(client);
  else bus.once('data', (piece: Buffer) => client.end(piece.subarray(0, 9)));
}

/** A frame of 1 MiB that belongs to nothing. */
function hugeFrame(): Buffer {
  const frame = Buffer.alloc(1024 ** 2 - 8);
  frame.writeUInt8(2, 1);
  frame.writeUInt32BE(frame.length - 8, 8);
  frame.writeUInt32BE(frame.length - 12, 12);
  return frame;
}
