import { statSync, type BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { orElse } from '../errors.ts';

/**
 * Changes when the file is written, replaced or touched: a file put back from an archive has an old
 * modification time but a new change time. undefined if there is no such file.
 */
export async function fileVersion(path: string): Promise<string | undefined> {
  return versionOf(await stat(path, { bigint: true }).catch(() => undefined));
}

/** The version of a file for callers that cannot wait. */
export function fileVersionSync(path: string): string | undefined {
  // A path that this process cannot reach is no file for it.
  const entry = orElse(() => statSync(path, { bigint: true, throwIfNoEntry: false }), undefined);
  return versionOf(entry);
}

/** The version of a file for callers that have looked at it already. */
export function versionOf(entry: BigIntStats | undefined): string | undefined {
  return entry?.isFile() === true
    ? `${entry.ino}-${entry.size}-${entry.mtimeNs}-${entry.ctimeNs}`
    : undefined;
}
