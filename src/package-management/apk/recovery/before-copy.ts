import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import * as v from 'valibot';
import { readJson, replaceFile } from '../../../device/durable-file.ts';
import { fileVersionSync } from '../../../device/file-version.ts';
import type { PackageDatabase } from '../../database.ts';
import { combine } from '../database/database.ts';
import { parseInstalled } from '../database/installed-db.ts';
import type { Locations } from '../database/locations.ts';
import { scriptsFile } from '../database/record-file.ts';
import { parseWorld, type World } from '../database/world.ts';

/** What apk had on record before a job: its owner may put it back by hand. */
export type BeforeCopy = ReturnType<typeof createBeforeCopy>;

const versions = v.record(v.string(), v.string());

/**
 * Copies of world, of the record of what is installed and of the packages' scripts, in the daemon's
 * own folder on flash. apk replaces all of them in every command and never syncs, so that after a
 * power cut one may be empty; and apk takes an empty world at its word.
 */
export function createBeforeCopy(locations: Locations) {
  const folder = join(locations.own, 'before');
  const inFolder = (name: string): string => join(folder, name);
  const sourcesNow = async () => {
    const scripts = await scriptsFile(locations);
    return [
      { file: locations.world, copy: 'world', isPacked: false },
      { file: locations.installed, copy: 'installed.gz', isPacked: true },
      { file: scripts, copy: 'scripts.tar.gz', isPacked: !scripts.endsWith('.gz') },
    ];
  };
  let parsed: { version: string; database: PackageDatabase } | undefined;
  const readWorldCopy = async (): Promise<World | undefined> => {
    const text = await readFile(inFolder('world'), 'utf8').catch(() => undefined);
    return text === undefined ? undefined : parseWorld(text, inFolder('world'));
  };
  return {
    /** The folder, for messages. */
    folder,
    /** What is the same as in the last copy is not written again, to spare the flash. */
    save: async (): Promise<void> => {
      const saved = await readVersions(inFolder('versions.json'));
      const sources = await sourcesNow();
      // Versions are read before contents: a file replaced in between is copied again next time.
      const next = Object.fromEntries(
        sources.map(({ file, copy }) => [copy, fileVersionSync(file) ?? 'absent']),
      ) as Record<string, string>;
      const changed = sources.filter(({ copy }) => next[copy] !== saved[copy]);
      if (changed.length === 0) return;
      await Promise.all(
        changed.map(async ({ file, copy, isPacked }) => {
          if (next[copy] === 'absent') return;
          const content = await readFile(file);
          const bytes = isPacked ? await promisify(gzip)(content) : content;
          // apk writes anew also what it does not change.
          const there = await readFile(inFolder(copy)).catch(() => undefined);
          if (saved[copy] === undefined || there?.equals(bytes) !== true) {
            await replaceFile(inFolder(copy), bytes);
          }
        }),
      );
      // Last, since only what is on the medium counts as copied. It need not get there itself: if
      // it is lost or damaged, everything is copied once more.
      await writeFile(inFolder('versions.json'), JSON.stringify(next), { mode: 0o600 });
    },
    world: readWorldCopy,
    /** undefined if nothing was saved. */
    database: async (): Promise<PackageDatabase | undefined> => {
      const world = await readWorldCopy();
      const version = fileVersionSync(inFolder('installed.gz'));
      if (world === undefined || version === undefined) return undefined;
      const both = `${version} ${world.text}`;
      if (parsed?.version !== both) {
        const records = await parseInstalled(unpacked(inFolder('installed.gz')), {
          name: inFolder('installed.gz'),
        });
        parsed = { version: both, database: await combine(records, world.entries, locations) };
      }
      return parsed.database;
    },
  };
}

function unpacked(file: string): AsyncIterable<Buffer> {
  return pipeline(createReadStream(file), createGunzip(), () => undefined);
}

async function readVersions(file: string): Promise<Record<string, string>> {
  const found = v.safeParse(versions, await readJson(file));
  // None, or damaged: everything is copied once more.
  return found.success ? found.output : {};
}
