import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { isThere } from '../../../device/is-there.ts';
import { readTar } from '../../../device/tar/tar-reader.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import type { PackageDatabase } from '../../database.ts';
import type { BeforeCopy } from '../recovery/before-copy.ts';
import { isEssential, type DatabaseReader } from './database.ts';
import type { InstalledRecord } from './installed-db.ts';
import type { Locations } from './locations.ts';
import { scriptsFile, streamRecord } from './record-file.ts';
import { readWorld, type World } from './world.ts';

/**
 * Whether apk may be let near its records: it takes an empty world for the wish to remove the
 * system, and a record that lost packages for a system without them.
 * @throws DepotError unavailable that says what is damaged and where the last copy is
 */
export async function assertSound(
  locations: Locations,
  reader: DatabaseReader,
  copy: BeforeCopy,
): Promise<void> {
  try {
    const world = await readWorld(locations.world);
    const records = await reader.records();
    await checkScripts(await scriptsFile(locations));
    const lost = await findLost(records, await copy.database().catch(() => undefined), locations);
    if (lost.length > 0) {
      throw damaged(locations.installed, `it lost ${listed(lost)}, whose files are there`);
    }
    const unreached = unreachedEssential(records, world);
    if (unreached.length > 0) {
      throw damaged(
        locations.world,
        `it leads to ${listed(unreached)} no longer, and apk would remove that`,
      );
    }
  } catch (error) {
    throw new DepotError(
      'unavailable',
      `${reasonOf(error)}; apk is not run until that is put right; what was there before the ` +
        `last job is in ${copy.folder}`,
      {
        cause: error,
        explanation: {
          code: 'damaged_database',
          remedy: `Put back what is damaged from ${copy.folder}, then try again.`,
        },
      },
    );
  }
}

function damaged(file: string, why: string): DepotError {
  return new DepotError('unavailable', `cannot use ${file}: ${why}`);
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  const shown = names.slice(0, MOST_NAMES).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
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
  records: ReadonlyMap<string, InstalledRecord>,
  before: PackageDatabase | undefined,
  { packages }: Locations,
): Promise<string[]> {
  const gone = [...(before?.values() ?? [])].filter(
    ({ name, version }) => version !== '' && !records.has(name),
  );
  const hasList = await Promise.all(
    gone.map(({ name }) => isThere(join(packages, `${name}.list`))),
  );
  return gone.filter((_, index) => hasList[index]).map(({ name }) => name);
}

function unreachedEssential(
  records: ReadonlyMap<string, InstalledRecord>,
  { entries }: World,
): string[] {
  const providers = new Map<string, string[]>();
  for (const { name, provides } of records.values()) {
    for (const known of [name, ...provides]) {
      providers.set(known, [...(providers.get(known) ?? []), name]);
    }
  }
  const reached = new Set<string>();
  const queue = entries.filter(({ isConflict }) => !isConflict).map(({ name }) => name);
  for (let wanted = queue.pop(); wanted !== undefined; wanted = queue.pop()) {
    for (const name of providers.get(wanted) ?? []) {
      if (reached.has(name)) continue;
      reached.add(name);
      queue.push(...(records.get(name)?.depends ?? []));
    }
  }
  return [...records.keys()].filter((name) => isEssential(name) && !reached.has(name));
}
