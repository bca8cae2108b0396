import { isPresent, type PackageDatabase } from '../../database.ts';
import type { FileRecord } from '../../listing.ts';
import { listedFiles, readControl } from './info-folder.ts';
import { readConffiles } from './status-paragraphs.ts';

/** opkg records a hash of configuration files alone. */
export async function* fileRecords(
  { infoDir, statusFile }: { infoDir: string; statusFile: string },
  database: PackageDatabase,
): AsyncGenerator<FileRecord> {
  const conffiles = await readConffiles(statusFile);
  const hashes = new Map(conffiles.map(({ path, hash }) => [path, hash]));
  for (const { name, installedAt } of [...database.values()].filter(isPresent)) {
    const built = Number((await readControl(infoDir, name)).get('SourceDateEpoch')) || 0;
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
