import { statfs } from 'node:fs/promises';
import type { OpkgConfig } from './config.ts';

/** Bytes free for packages, where opkg itself looks. */
export async function freeBytesFor(
  destination: string,
  { overlayRoot }: Pick<OpkgConfig, 'overlayRoot'>,
): Promise<number> {
  const { bavail, bsize } = await statfs(overlayRoot ?? destination).catch(() =>
    statfs(destination),
  );
  return bavail * bsize;
}
