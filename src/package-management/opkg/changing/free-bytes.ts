import { freeBytesOf } from '../../../device/disk/space.ts';
import type { OpkgConfig } from '../config.ts';

/** Bytes free for packages, where opkg itself looks. */
export async function freeBytesFor(
  destination: string,
  { overlayRoot }: Pick<OpkgConfig, 'overlayRoot'>,
): Promise<number> {
  return freeBytesOf(overlayRoot ?? destination).catch(() => freeBytesOf(destination));
}
