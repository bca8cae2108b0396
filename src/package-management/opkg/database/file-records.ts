import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPresent, type PackageDatabase } from '../../database.ts';
import type { FileRecord } from '../../listing.ts';
import { listedFiles } from '../changing/content-check.ts';
import { parseStanza, parseStanzas } from './stanza.ts';

/** opkg records a hash of configuration files alone. */
export async function* fileRecords(
  { infoDir, statusFile }: { infoDir: string; statusFile: string },
  database: PackageDatabase,
): AsyncGenerator<FileRecord> {
  const status = await readFile(statusFile, 'utf8').catch(() => '');
  const hashes = new Map<string, string>();
  for (const stanza of parseStanzas(status)) {
    for (const line of (stanza.get('Conffiles') ?? '').split('\n')) {
      const [path = '', digits = ''] = line.split(' ');
      hashes.set(path, digits);
    }
  }
  for (const { name, installedAt } of [...database.values()].filter(isPresent)) {
    const control = await readFile(join(infoDir, `${name}.control`), 'utf8').catch(() => '');
    const built = Number(parseStanza(control).get('SourceDateEpoch')) || 0;
    for (const path of await listedFiles(infoDir, name)) {
      const digits = hashes.get(path);
      yield {
        owner: name,
        path,
        isConfig: digits !== undefined,
        ...(digits === undefined
          ? { times: { built, installed: installedAt } }
          : { hash: { algorithm: digits.length === 64 ? 'sha256' : 'md5', digits } }),
      };
    }
  }
}
