import { run } from '../exec.ts';

const LIMITS = { timeoutMs: 120_000, maxBytes: 4096 };

/**
 * Has the kernel write the file systems of these paths down. opkg and apk never do: what they
 * unpacked or renamed may be empty after a power cut. A `sync` that knows no `-f` writes all of
 * them.
 */
export async function syncDisk(
  environment: Record<string, string>,
  paths: readonly string[],
): Promise<void> {
  const command = { environment, cwd: '/' };
  const { exitCode } = await run({ ...command, argv: ['sync', '-f', ...paths] }, LIMITS);
  if (exitCode !== 0) await run({ ...command, argv: ['sync'] }, LIMITS);
}
