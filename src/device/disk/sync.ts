import { existsSync } from 'node:fs';
import { run } from '../exec.ts';
import { isShortage } from '../shortage.ts';

const LIMITS = { timeoutMs: 120_000, maxBytes: 4096 };

/**
 * Has the kernel write the file systems of these paths down. opkg and apk never do: what they
 * unpacked or renamed may be empty after a power cut. A `sync` that knows no `-f` writes all of
 * them; a path that is not there has nothing to be written.
 * @returns why that failed, a `sync` that could not be run included; nothing if all is written
 * @throws the shortage that kept it from being run for the moment
 */
export async function syncDisk(
  environment: Record<string, string>,
  paths: readonly string[],
): Promise<string | undefined> {
  const present = paths.filter((path) => existsSync(path));
  const some = await run({ environment, argv: ['sync', '-f', ...present] }, LIMITS);
  if (some.exitCode === 0) return undefined;
  if (isShortage(some.error)) throw some.error;
  const all = await run({ environment, argv: ['sync'] }, LIMITS);
  const isUnknown =
    some.exitCode !== undefined && /invalid|unrecognized|unknown|usage/i.test(some.stderr);
  if (isUnknown && all.exitCode === 0) return undefined;
  const { stderr } = isUnknown ? all : some;
  return `cannot write to the disk: ${stderr.trim() || 'sync failed'}`;
}
