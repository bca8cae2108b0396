import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runCommand } from '../device/command.ts';

export interface PanelLogin {
  id: string;
  token: string;
}

/**
 * How ubus answers from now on: as it should, with ubusd gone, or in one of the ways in which a
 * program can fail.
 */
export type PanelMode = 'good' | 'gone' | 'slow' | 'stuck' | 'garbled' | 'huge' | 'killed';

/**
 * The panel's sessions: those of the real rpcd where UBUS and UBUS_SOCKET say where it is, else
 * those of the stand-in.
 */
export interface Panel {
  /** A folder to put at the head of PATH. */
  bin: string;
  /**
   * Logs in as the panel does: a session, then its token. @param timeoutS how long the session may
   * be idle
   */
  logIn: (timeoutS?: number) => Promise<PanelLogin>;
  /** A session to which somebody has logged in, but the panel has not given a token yet. */
  logInWithoutToken: () => Promise<string>;
  /** A session to which nobody has logged in. */
  create: () => Promise<string>;
  logOut: (id: string) => Promise<void>;
  /** The argument vectors with which ubus was called by others than this. */
  calls: () => Promise<string[]>;
  fail: (mode: PanelMode) => Promise<void>;
  close: () => Promise<void>;
}

const STAND_IN = join(import.meta.dirname, '../device/bin-ubus/ubus');
const NO_SOCKET = '/nonexistent/ubus.sock';

export async function createPanel(
  { UBUS, UBUS_SOCKET = '' }: NodeJS.ProcessEnv = process.env,
): Promise<Panel> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-panel-'));
  await mkdir(join(folder, 'sessions'));
  const files = { calls: join(folder, 'calls'), mode: join(folder, 'mode') };
  const real = (socket: string): string => `${UBUS ?? ''} -s ${socket} "$@"`;
  const standIn = (sessions: string): string => `env UBUS_STATE=${sessions} ${STAND_IN} "$@"`;
  const good = UBUS === undefined ? standIn(join(folder, 'sessions')) : real(UBUS_SOCKET);
  const gone = UBUS === undefined ? standIn(NO_SOCKET) : real(NO_SOCKET);
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'good'), `#!/bin/sh\nexec ${good}\n`);
  await writeFile(join(folder, 'bin/ubus'), wrapper({ ...files, good, gone }));
  await Promise.all([chmod(join(folder, 'good'), 0o755), chmod(join(folder, 'bin/ubus'), 0o755)]);

  const call = async (method: string, message: object): Promise<Record<string, string>> => {
    const { code, stdout, stderr } = await runCommand([
      join(folder, 'good'),
      '-S',
      'call',
      'session',
      method,
      JSON.stringify(message),
    ]);
    if (code !== 0) throw new Error(`cannot call session ${method}: ${code} ${stderr}`);
    return stdout === '' ? {} : (JSON.parse(stdout) as Record<string, string>);
  };
  const begin = async (method: string, message: object): Promise<string> =>
    (await call(method, message)).ubus_rpc_session ?? '';
  const logInWithoutToken = (timeoutS = 300): Promise<string> =>
    begin('login', { username: 'root', password: 'labpass', timeout: timeoutS });
  return {
    bin: join(folder, 'bin'),
    logIn: async (timeoutS) => {
      const login = {
        id: await logInWithoutToken(timeoutS),
        token: randomBytes(16).toString('hex'),
      };
      await call('set', { ubus_rpc_session: login.id, values: { token: login.token } });
      return login;
    },
    logInWithoutToken,
    create: () => begin('create', { timeout: 300 }),
    logOut: async (id) => {
      await call('destroy', { ubus_rpc_session: id });
    },
    calls: async () =>
      (await readFile(files.calls, 'utf8').catch(() => '')).split('\n').filter(Boolean),
    fail: (mode) => writeFile(files.mode, mode),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

function wrapper({
  calls,
  mode,
  good,
  gone,
}: {
  calls: string;
  mode: string;
  good: string;
  gone: string;
}): string {
  return `#!/bin/sh
printf '%s\\n' "$*" >> ${calls}
case $(cat ${mode} 2>/dev/null) in
gone) exec ${gone} ;;
slow) sleep 0.5 ;;
stuck) trap '' TERM; sleep 20; exit 0 ;;
garbled) echo '<html>{"values":{"username":"root","token":"x"}}'; exit 0 ;;
huge) head -c 4000000 /dev/zero | tr '\\0' x; exit 0 ;;
killed) kill -9 $$ ;;
esac
exec ${good}
`;
}
