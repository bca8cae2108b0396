import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rewriteFile } from '../../../device/durable-file.ts';

/** Under these dockerd keeps whole paths into its data root; commands and labels are the user's. */
const KEYS = ['Source', 'LogPath', 'HostsPath', 'HostnamePath', 'ResolvConfPath', 'ShmPath'];

interface Redirection {
  from: readonly string[];
  to: string;
}

/**
 * dockerd looks volumes up anew, but some versions (20.10) insist that the path they had is there:
 * containers would start until the old data is removed.
 */
export async function redirectContainers(dataRoot: string, paths: Redirection): Promise<void> {
  const folder = join(dataRoot, 'containers');
  for (const name of await readdir(folder).catch(() => [])) {
    const file = join(folder, name, 'config.v2.json');
    const text = await readFile(file, 'utf8').catch(() => undefined);
    const redirected = text === undefined ? undefined : redirectRecord(text, paths);
    if (redirected !== undefined && redirected !== text) await rewriteFile(file, redirected);
  }
}

/** In the text as it stands: to read and write numbers of 64 bits would change them. */
export function redirectRecord(text: string, { from, to }: Redirection): string {
  return from.reduce((record, source) => {
    const pattern = new RegExp(
      `("(?:${KEYS.join('|')})":")${escape(inJson(source))}(/(?:volumes|containers)/)`,
      'g',
    );
    return record.replace(pattern, (_, key: string, rest: string) => `${key}${inJson(to)}${rest}`);
  }, text);
}

/** As Go writes it: with what HTML would take for markup escaped. */
function inJson(path: string): string {
  return JSON.stringify(path)
    .slice(1, -1)
    .replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
