import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { isThere } from '../../../device/is-there.ts';
import { readTar } from '../../../device/tar/tar-reader.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import { isPresent, type PackageDatabase } from '../../database.ts';
import { withNeeded } from '../../dependencies.ts';
import { listNames } from '../../names.ts';
import type { RecordCopy } from '../recovery/record-copy.ts';
import { isEssential, type DatabaseReader } from './database.ts';
import type { Locations } from './apk-locations.ts';
import { scriptsFile, streamRecord } from './record-file.ts';
import { readWorld } from './world.ts';

/**
 * Whether apk may be let near its records: it takes an empty world for the wish to remove the
 * system, and a record that lost packages for a system without them.
 * @throws DepotError unavailable that says what is damaged and where the last copy is
 */
export async function assertSound(locations: Locations, reader: DatabaseReader, copy: RecordCopy) {
  try {
    const { entries, database } = await readWhole(locations, reader);
    const lost = await findLost(database, await copy.database().catch(() => undefined), locations);
    if (lost.length > 0) {
      const names = listNames(lost, MOST_NAMES);
      throw damaged(locations.installed, `it lost ${names}, whose files are there`);
    }
    const wanted = entries.filter(({ isConflict }) => !isConflict).map(({ name }) => name);
    const reached = withNeeded(database, wanted);
    const isUnreached = (name: string): boolean => isEssential(name) && !reached.has(name);
    const unreached = [...database.keys()].filter(isUnreached);
    if (unreached.length > 0) {
      const names = listNames(unreached, MOST_NAMES);
      const why = `it leads to ${names} no longer, and apk would remove that`;
      throw damaged(locations.world, why);
    }
  } catch (error) {
    const message =
      `${reasonOf(error)}; apk is not run until that is put right; what was there before the ` +
      `last job is in ${copy.folder}`;
    const remedy = `Put back what is damaged from ${copy.folder}, then try again.`;
    const explanation = { code: 'damaged_database', remedy };
    throw new DepotError('unavailable', message, { cause: error, explanation });
  }
}

/** @throws DepotError unavailable for what a power cut left empty, as zeros or in parts */
export async function readWhole(locations: Locations, reader: DatabaseReader) {
  const { entries } = await readWorld(locations.world);
  const database = await reader.read();
  await checkScripts(await scriptsFile(locations));
  return { entries, database };
}

function damaged(file: string, why: string): DepotError {
  return new DepotError('unavailable', `cannot use ${file}: ${why}`);
}

const MOST_NAMES = 8;

/**
 * Read to its end: one that is damaged makes every command of apk fail, and one that a power cut
 * left empty or full of zeros is taken for packages without scripts. None at all is no damage.
 */
async function checkScripts(file: string): Promise<void> {
  const { size } = (await stat(file).catch(() => undefined)) ?? {};
  if (size === undefined) return;
  const check = file.endsWith('.gz') ? checkPacked : checkPlain;
  await check(file, size).catch((error: unknown) => {
    throw error instanceof DepotError ? error : damaged(file, reasonOf(error));
  });
}

async function checkPacked(file: string): Promise<void> {
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() });
  await pipeline(streamRecord(file), createGunzip(), nowhere);
}

/** tar(1) fills the last record of an archive up to this with zeros. */
const TAR_RECORD_BYTES = 10_240;

async function checkPlain(file: string, sizeBytes: number): Promise<void> {
  if (sizeBytes === 0) throw damaged(file, 'it is empty');
  let members = 0;
  for await (const { name } of readTar(streamRecord(file))) if (name !== '') members += 1;
  if (members === 0 && sizeBytes > TAR_RECORD_BYTES) throw damaged(file, 'it is full of zeros');
}

/** Packages of the last copy that are not on record, and whose list of files is still there. */
async function findLost(
  database: PackageDatabase,
  before: PackageDatabase | undefined,
  { packages }: Locations,
): Promise<string[]> {
  const lost: string[] = [];
  for (const { name, version } of before?.values() ?? []) {
    if (version === '' || isPresent(database.get(name))) continue;
    if (await isThere(join(packages, `${name}.list`))) lost.push(name);
  }
  return lost;
}
