import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { ask, type Answer, type Question } from '../../support/ask.ts';
import { createPanel, type Panel } from '../../support/panel.ts';

/** A daemon with `main.auth panel` beside an rpcd, on loopback and on a socket of root's alone. */
export interface PanelDevice {
  device: Device;
  panel: Panel;
  daemon: TestDaemon;
  socketPath: string;
  /** Below `admin/`. */
  admin: (path: string, question?: Question) => Promise<Answer>;
  /** With root's password unless said otherwise. */
  logIn: (form?: Record<string, string>, question?: Question) => Promise<Answer>;
  /** Of a read with these headers. */
  statusOf: (session: NonNullable<Question['headers']>) => Promise<number>;
  tokenOf: (session: NonNullable<Question['headers']>) => Promise<string>;
  /** The ids of rpcd's sessions. */
  idsNow: () => Promise<string[]>;
  /** The session that rpcd has begun meanwhile. */
  newIdSince: (before: readonly string[]) => Promise<string>;
  close: () => Promise<void>;
}

export async function startPanelDevice(): Promise<PanelDevice> {
  const [device, panel] = await Promise.all([createDevice(), createPanel()]);
  await mkdir(join(device.root, 'etc/config'), { recursive: true });
  const socketPath = join(device.root, 'depotd.sock');
  const daemon = await startDaemon(device, {
    set: ['main.auth=panel', `main.listen=unix:${socketPath}`],
    env: panel.env,
  });
  const admin: PanelDevice['admin'] = (path, question = {}) =>
    ask(`${daemon.url}${daemon.base}/admin/${path}`, question);
  const idsNow = async (): Promise<string[]> => [...(await panel.sessions()).keys()];
  return {
    device,
    panel,
    daemon,
    socketPath,
    admin,
    logIn: (form = { password: 'labpass' }, question = {}) =>
      admin('login', { method: 'POST', form, ...question }),
    statusOf: async (headers) => (await admin('store/token', { headers })).status,
    tokenOf: async (headers) => {
      const { text } = await admin('store/token', { headers });
      return (JSON.parse(text) as { token: string }).token;
    },
    idsNow,
    newIdSince: async (before) => (await idsNow()).find((id) => !before.includes(id)) ?? '',
    close: async () => {
      await daemon.close();
      await Promise.all([panel.close(), device.close()]);
    },
  };
}
