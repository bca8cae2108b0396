import { link, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { allBytes } from '../../../device/byte-reader.ts';
import { syncPath } from '../../../device/durable-file.ts';
import { fileVersionSync } from '../../../device/file-version.ts';
import { ifThere } from '../../../errors.ts';
import type { PackageDatabase } from '../../database.ts';
import { combine } from '../database/database.ts';
import { readInstalled } from '../database/installed-db.ts';
import type { Locations } from '../database/apk-locations.ts';
import { openRecord, scriptsFile, streamRecord } from '../database/record-file.ts';
import { parseWorld, type World } from '../database/world.ts';

/** What apk had on record before a job: its owner may put it back by hand. */
export type RecordCopy = ReturnType<typeof createRecordCopy>;

/** What an older depotd left: a packed record, and what its copies were made of. */
const FORMER_NAMES = ['installed.gz', 'versions.json'];

/**
 * world, the record of what is installed, the packages' scripts and triggers as they were, in the
 * daemon's own folder on flash. apk replaces all of them in every command and never syncs, so that
 * after a power cut one may be empty; and apk takes an empty world at its word. Since it renames
 * new files over them, those that were there are kept by another name of theirs (link(2)), and none
 * of their bytes is written again. world is copied: its owner edits it in its place.
 */
export function createRecordCopy(locations: Locations) {
  const folder = join(locations.own, 'before');
  const inFolder = (name: string): string => join(folder, name);
  const installedCopy = inFolder('installed');
  let areNamesSynced = false;
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
      const { world, installed, scripts, plainScripts, triggers } = locations;
      const scriptsNow = await scriptsFile(locations);
      await mkdir(folder, { recursive: true });
      const wereSynced = areNamesSynced;
      areNamesSynced = false;
      const areNew = [
        await keepFile(installed, installedCopy),
        await keepFile(scriptsNow, inFolder(basename(scriptsNow))),
        await keepFile(triggers, inFolder(basename(triggers))),
        await keepBytes(world, inFolder('world')),
      ];
      if (!wereSynced || areNew.includes(true)) await syncPath(folder);
      areNamesSynced = true;
      if (wereSynced) return;
      const others = [scripts, plainScripts].filter((file) => file !== scriptsNow);
      for (const name of [...FORMER_NAMES, ...others.map((file) => basename(file))]) {
        await rm(inFolder(name), { force: true });
      }
    },
    world: readWorldCopy,
    /** The record of before; undefined if nothing was saved. */
    database: async (): Promise<PackageDatabase | undefined> => {
      const world = await readWorldCopy();
      const version = fileVersionSync(installedCopy);
      if (world === undefined || version === undefined) return undefined;
      const both = `${version} ${world.text}`;
      if (parsed?.version !== both) {
        const records = await readInstalled(installedCopy);
        parsed = { version: both, database: await combine(records, world.entries, locations) };
      }
      return parsed.database;
    },
  };
}

/**
 * @returns whether the copy is a new one, whose name is still to be synced
 * @throws DepotError unavailable that names what is no file
 */
async function keepFile(file: string, copy: string): Promise<boolean> {
  const target = await realpath(file).catch(() => file);
  const asked = [target, copy].map((path) => stat(path).catch(ifThere(undefined)));
  const [now, kept] = await Promise.all(asked);
  if (now === undefined || (now.ino === kept?.ino && now.dev === kept.dev)) return false;
  // A file that is as empty as its copy, as triggers mostly are.
  if (now.size === 0 && kept?.size === 0) return false;
  return renew(copy, (temporary) => link(target, temporary)).catch(
    // The daemon's folder is on another disk, or the file system has no such names.
    () => keepBytes(target, copy),
  );
}

/** A copy of its bytes, for what is written in its place. @returns as of `keepFile` */
async function keepBytes(file: string, copy: string): Promise<boolean> {
  if ((await stat(file).catch(ifThere(undefined))) === undefined) return false;
  const now = await allBytes(streamRecord(file));
  if ((await readFile(copy).catch(ifThere(undefined)))?.equals(now) === true) return false;
  return renew(copy, (temporary) => writeFile(temporary, now, { mode: 0o600 }));
}

async function renew(copy: string, make: (file: string) => Promise<void>): Promise<true> {
  const temporary = `${copy}.new`;
  await rm(temporary, { force: true });
  try {
    await make(temporary);
    const handle = await openRecord(temporary);
    try {
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(temporary, copy);
    return true;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}
