import { run } from '../../../device/exec.ts';
import type { Installation } from './installation.ts';

/** apk never does: what it renamed may be empty after a power cut. */
export async function syncDisk({
  root,
  environment,
}: Pick<Installation, 'root' | 'environment'>): Promise<void> {
  const limits = { timeoutMs: 60_000, maxBytes: 4096 };
  const command = { environment, cwd: '/' };
  const { exitCode } = await run({ ...command, argv: ['sync', '-f', root] }, limits);
  if (exitCode !== 0) await run({ ...command, argv: ['sync'] }, limits);
}
