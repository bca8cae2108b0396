import { mkdir, readdir, rm } from 'node:fs/promises';
import { lockHolderOf } from '../../device/lock-holder.ts';
import { isFolder } from '../../device/is-there.ts';
import { fileVersionSync } from '../../device/file-version.ts';
import { openTrustedFolder } from '../../device/private-folder.ts';
import type { BackendContext } from '../manager.ts';
import { createRecordCopy } from './recovery/record-copy.ts';
import { createApkCommands } from './changing/commands.ts';
import { createDatabaseReader } from './database/database.ts';
import { cacheFolder, createLocations } from './database/apk-locations.ts';
import { createOffers } from './feeds/offers.ts';
import { assertReadable, indexFiles, recordFiles } from './feeds/index-files.ts';
import { imagePackages } from './database/install-time.ts';
import { assertSound } from './database/soundness.ts';
import { createTransactionRecords } from './recovery/transaction-record.ts';

export type Installation = ReturnType<typeof openInstallation>;

/** apk on this device, and what the daemon keeps for it. */
export function openInstallation(context: BackendContext) {
  const { paths, environment } = context;
  const locations = createLocations(paths);
  const reader = createDatabaseReader(locations);
  const copy = createRecordCopy(locations);
  const commands = createApkCommands(context, locations);
  let sound: string | undefined;
  const assertRecordsNow = async (): Promise<void> => {
    const files = recordFiles(locations);
    await assertReadable(files, locations);
    const now = files.map(fileVersionSync).join(' ');
    if (now === sound) return;
    await assertSound(locations, reader, copy);
    sound = now;
  };
  const assertSoundNow = async (): Promise<void> => {
    await assertReadable(await indexFiles(paths, locations), locations);
    await assertRecordsNow();
  };
  // Another apk may be about to write its records.
  const unlessLocked = (assert: () => Promise<void>) => (): Promise<void> =>
    assert().catch(async () => {
      if ((await lockHolderOf(locations.lock, 'FLOCK')) === undefined) await assert();
    });
  return {
    root: paths.root,
    locations,
    reader,
    commands,
    offers: createOffers({ paths, locations, commands, assertSound: assertSoundNow }),
    /** Names of the packages that the firmware's image brought. */
    imagePackages: async () => imagePackages(paths, (await reader.records()).keys(), locations),
    copy,
    records: createTransactionRecords(locations),
    environment,
    /** The folder that packages are fetched to now. */
    cache: async (): Promise<string> => {
      const { ownCache } = locations;
      return (await isFolder(ownCache)) ? ownCache : cacheFolder(paths);
    },
    /** Makes the folders that apk's commands need. */
    prepareFolders: async (): Promise<void> => {
      await Promise.all([
        openTrustedFolder(locations.own).then(() => makeEmpty(locations.empty)),
        cacheFolder(paths).then((folder) => openTrustedFolder(folder, 0o755)),
      ]);
    },
    /** @throws DepotError unavailable if apk must not be let near its records */
    assertSound: assertSoundNow,
    /**
     * The same, but for what another apk has not put on record yet: a job waits, and looks again.
     */
    assertUsable: unlessLocked(assertSoundNow),
    /** Asserts the records alone: copies of indexes can be in another user's hands. */
    assertRecords: unlessLocked(assertRecordsNow),
  };
}

/** Empties apk's working folder. One that is empty stays as it is, to spare the flash. */
async function makeEmpty(folder: string): Promise<void> {
  if ((await readdir(folder).catch(() => undefined))?.length === 0) return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
}
