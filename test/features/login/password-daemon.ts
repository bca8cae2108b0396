import { randomBytes, scryptSync } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { vi } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { ask, type Answer, type Question } from '../../support/ask.ts';
import { createOwner, type Owner } from '../../support/owner.ts';

/** A daemon with `main.auth password`, over TCP and its socket, and its owner. */
export interface PasswordDaemon {
  readonly device: Device;
  readonly daemon: TestDaemon;
  readonly owner: Owner;
  readonly socketPath: string;
  /**
   * Sets the password by a hash that costs a thousandth of what the daemon would make, so that
   * guesses are answered at once.
   */
  readonly setCheapPassword: (password: string, cost?: number) => Promise<void>;
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
  await vi.waitFor(() => stat(socketPath), { timeout: 20_000 });
  const admin = (path: string, question: Question = {}): Promise<Answer> =>
    ask(`${daemon.url}${daemon.base}/admin/${path}`, question);
  return {
    device,
    daemon,
    owner: createOwner(daemon),
    socketPath,
    setCheapPassword: (password, cost = 16) =>
      writeFile(join(device.root, 'etc/depotd/password'), hashOf(password, cost), { mode: 0o600 }),
    admin,
    tokenStatus: async (headers) => (await admin('store/token', { headers })).status,
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}

/** As src/features/login/password.ts writes it. */
function hashOf(password: string, cost: number): string {
  const salt = randomBytes(16);
  const key = scryptSync(password, salt, 32, { cost, blockSize: 8, parallelization: 5 });
  const texts = [salt, key].map((bytes) => bytes.toString('base64url'));
  return `${['scrypt', cost, 8, 5, ...texts].join('$')}\n`;
}
