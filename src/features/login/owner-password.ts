import { readFile } from 'node:fs/promises';
import type { Paths } from '../../device/paths.ts';

/**
 * Whether the device's owner, root, has a password. An empty second field of shadow(5) lets
 * everybody in without one.
 * @returns undefined if there is no /etc/shadow that can be read
 */
export async function hasOwnerPassword({
  onDevice,
}: Pick<Paths, 'onDevice'>): Promise<boolean | undefined> {
  const text = await readFile(onDevice('/etc/shadow'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : !/^root::/m.test(text);
}
