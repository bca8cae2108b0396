import { join } from 'node:path';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import type { Device } from '../device/device.ts';
import { ask } from '../support/ask.ts';
import { setCheapPassword } from '../support/cheap-password.ts';
import { createOwner } from '../support/owner.ts';
import type { Panel } from '../support/panel.ts';
import { sessionIn, type SessionHeaders } from '../support/session-headers.ts';

export interface Credentials {
  /** The headers that it is known by. */
  session?: Readonly<Record<string, string>>;
  token?: string;
}

export interface World {
  daemon: TestDaemon;
  /** A new session and its token. */
  right: () => Promise<Required<Credentials>>;
  /** Cookies that are no session, by what they are. */
  wrong: () => Promise<Record<string, Readonly<Record<string, string>>>>;
}

export type Mode = 'panel' | 'password' | 'none';

interface Host {
  device: Device;
  panel: Panel;
}

const UNKNOWN_PANEL_ID = '0123456789abcdef0123456789abcdef';

/** A daemon for each `main.auth`, all of them on one device. */
export async function createWorlds(host: Host): Promise<Record<Mode, World>> {
  return {
    panel: await createPanelWorld(host),
    password: await createPasswordWorld(host),
    none: await createOpenWorld(host),
  };
}

function start({ device, panel }: Host, mode: Mode): Promise<TestDaemon> {
  return startDaemon(device, {
    set: [
      `main.auth=${mode}`,
      `main.state_dir=/etc/depotd-${mode}`,
      `main.log_dir=/var/log/depotd-${mode}`,
    ],
    env: panel.env,
  });
}

async function createPanelWorld(host: Host): Promise<World> {
  const { panel } = host;
  const daemon = await start(host, 'panel');
  const logIn = async (): Promise<SessionHeaders> =>
    sessionIn(
      await ask(`${daemon.url}${daemon.base}/admin/login`, {
        method: 'POST',
        form: { session: (await panel.logIn()).id },
      }),
    );
  const halvesAlone = async (): Promise<Record<string, Readonly<Record<string, string>>>> =>
    mixedHalves(await logIn(), await logIn());
  return {
    daemon,
    right: async () => {
      const { id, token } = await panel.logIn();
      return { session: { cookie: `sysauth_http=${id}` }, token };
    },
    wrong: async () => ({
      'an unknown id': { cookie: `sysauth_http=${UNKNOWN_PANEL_ID}` },
      'a session that has no token': { cookie: `sysauth_http=${await panel.logInWithoutToken()}` },
      'a session without log-in': { cookie: `sysauth_http=${await panel.create()}` },
      'the session of zeros': { cookie: `sysauth_http=${'0'.repeat(32)}` },
      "the password's cookie": { cookie: `depotd_session=${'x'.repeat(43)}` },
      ...(await halvesAlone()),
    }),
  };
}

async function createPasswordWorld(host: Host): Promise<World> {
  const { panel } = host;
  const daemon = await start(host, 'password');
  const owner = createOwner(daemon);
  await setCheapPassword(join(host.device.root, 'etc/depotd-password'), 'secret');
  const right = (): Promise<Required<Credentials>> => owner.logIn('secret');
  return {
    daemon,
    right,
    wrong: async () => {
      const { session, token } = await right();
      await ask(`${daemon.url}${daemon.base}/admin/logout`, {
        method: 'POST',
        headers: session,
        form: { token },
      });
      return {
        'an unknown id': { cookie: `depotd_session=${'x'.repeat(43)}` },
        'a session that was logged out': session,
        "the panel's cookie": { cookie: `sysauth_http=${(await panel.logIn()).id}` },
        ...mixedHalves(
          (await owner.logIn('secret')).session,
          (await owner.logIn('secret')).session,
        ),
      };
    },
  };
}

/** What a neighbour on another port gets, and what it could put together. */
function mixedHalves(
  one: SessionHeaders,
  other: SessionHeaders,
): Record<string, Readonly<Record<string, string>>> {
  return {
    'the cookie alone': { cookie: one.cookie },
    'the key alone': { 'x-depotd-key': one['x-depotd-key'] },
    'the cookie with the key of another session': { ...other, cookie: one.cookie },
  };
}

async function createOpenWorld(host: Host): Promise<World> {
  const daemon = await start(host, 'none');
  return {
    daemon,
    right: async () => ({ session: {}, token: await daemon.token() }),
    wrong: async () => ({}),
  };
}
