import { existsSync } from 'node:fs';
import { run } from '../exec.ts';

const LIMITS = { timeoutMs: 120_000, maxBytes: 4096 };

/**
 * Has the kernel write the file systems of these paths down. opkg and apk never do: what they
 * unpacked or renamed may be empty after a power cut. A `sync` that knows no `-f` writes all of
 * them; a path that is not there has nothing to be written.
 * @returns what `sync` said if it failed; nothing if it could not be run
 */
export async function syncDisk(
  environment: Record<string, string>,
  paths: readonly string[],
): Promise<string | undefined> {
  const command = { environment, cwd: '/' };
  const present = paths.filter((path) => existsSync(path));
  const some = await run({ ...command, argv: ['sync', '-f', ...present] }, LIMITS);
  if (some.exitCode === 0) return undefined;
  await run({ ...command, argv: ['sync'] }, LIMITS);
  const isUnknown = /invalid|unrecognized|unknown|usage/i.test(some.stderr);
  if (some.exitCode === undefined || isUnknown) return undefined;
  return `cannot write to the disk: ${some.stderr.trim() || 'sync failed'}`;
}
