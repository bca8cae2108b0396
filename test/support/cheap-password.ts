import { randomBytes, scryptSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Sets a password by a hash that costs a thousandth of what the daemon would make, so that log-ins
 * are answered at once. As src/features/login/password.ts writes it.
 */
export async function setCheapPassword(
  stateFolder: string,
  password: string,
  cost = 16,
): Promise<void> {
  const salt = randomBytes(16);
  const key = scryptSync(password, salt, 32, { cost, blockSize: 8, parallelization: 5 });
  const texts = [salt, key].map((bytes) => bytes.toString('base64url'));
  const line = `${['scrypt', cost, 8, 5, ...texts].join('$')}\n`;
  await writeFile(join(stateFolder, 'password'), line, { mode: 0o600 });
}
