import { readFile } from 'node:fs/promises';
import type { Paths } from '../../device/paths.ts';

/** An empty second field of shadow(5) lets root in without one; undefined if it cannot be read. */
export async function hasOwnerPassword({
  onDevice,
}: Pick<Paths, 'onDevice'>): Promise<boolean | undefined> {
  const text = await readFile(onDevice('/etc/shadow'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : !/^root::/m.test(text);
}
