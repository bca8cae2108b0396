import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { ask, type Answer, type Question } from '../../support/ask.ts';
import { setCheapPassword } from '../../support/cheap-password.ts';
import { createOwner, type Owner } from '../../support/owner.ts';

/** A daemon with `main.auth password`, over TCP and its socket, and its owner. */
export interface PasswordDaemon {
  readonly device: Device;
  readonly daemon: TestDaemon;
  readonly owner: Owner;
  readonly socketPath: string;
  readonly setCheapPassword: (password: string, cost?: number) => Promise<void>;
  /** As if none had been set. */
  readonly forgetPassword: () => Promise<void>;
  /** Asks for what lies below `admin/`. */
  readonly admin: (path: string, question?: Question) => Promise<Answer>;
  /** The status of a read with these headers: 200 for who is logged in. */
  readonly tokenStatus: (session: NonNullable<Question['headers']>) => Promise<number>;
  readonly close: () => Promise<void>;
}

export async function startPasswordDaemon(): Promise<PasswordDaemon> {
  const device = await createDevice();
  const socketPath = join(device.root, 'depotd.sock');
  const daemon = await startDaemon(device, {
    set: ['main.auth=password', `main.listen=unix:${socketPath}`],
  });
  while (!existsSync(socketPath)) await delay(20);
  const admin = (path: string, question: Question = {}): Promise<Answer> =>
    ask(`${daemon.url}${daemon.base}/admin/${path}`, question);
  return {
    device,
    daemon,
    owner: createOwner(daemon),
    socketPath,
    setCheapPassword: (password, cost) =>
      setCheapPassword(join(device.root, 'etc/depotd'), password, cost),
    forgetPassword: () => rm(join(device.root, 'etc/depotd/password'), { force: true }),
    admin,
    tokenStatus: async (headers) => (await admin('store/token', { headers })).status,
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}
