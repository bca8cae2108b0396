import { join } from 'node:path';
import type { PackageDatabase } from '../database.ts';
import type { Diagnosis } from '../diagnosis.ts';
import { explainingLists } from '../failed-feeds.ts';
import type { BackendContext, PackageBackend, PackageManager, Restoration } from '../manager.ts';
import { createAutoInstalled } from './database/auto-installed.ts';
import { fileRecords } from './database/info-folder.ts';
import { imagePackages } from './database/status-file.ts';
import { createHold } from './changing/hold.ts';
import { createOpkgCommands } from './changing/commands.ts';
import { compareVersions } from './compare-versions.ts';
import { preferredArchitecture } from './opkg-config.ts';
import { createDamaged } from './recovery/damaged.ts';
import { createFeedSettings } from './feeds/feed-settings.ts';
import { openInstallation, statusFileIn, type Installation } from './installation.ts';
import { inspectIpk } from './package-file/ipk-file.ts';
import { createListing } from './feeds/listing.ts';
import { createListsBackup } from './feeds/lists-backup.ts';
import { findOffers } from './feeds/lists.ts';
import { packInstalled } from './package-file/repack.ts';
import SELF_UPGRADE_SCRIPT from './self-upgrade.sh';
import { COPY_NAMES, PLAIN_COPY_NAME } from './database/status-backup.ts';
import { createTransactionSteps } from './changing/transaction-steps.ts';

/** opkg, and its database read without it. */
export const OPKG: PackageBackend = {
  name: 'opkg',
  record: statusFileIn('/'),
  programs: ['/bin/opkg', '/usr/bin/opkg'],
  create: createOpkg,
};

export async function createOpkg(context: BackendContext): Promise<PackageManager> {
  const { paths, environment, notes } = context;
  const installation = await openInstallation(context);
  const { readConfig, statusFile, infoDir, destination } = installation;
  const auto = createAutoInstalled(notes);
  const commands = createOpkgCommands(context);
  const feeds = createFeedSettings(paths, readConfig);
  const lists = explainingLists(createListsBackup(readConfig, notes), { ...context, feeds });
  const damaged = await createDamaged(notes, infoDir);
  const installed = async (): Promise<PackageDatabase> =>
    damaged.mark(await auto.restoreMarks(await installation.read()));
  const listing = createListing(installation);
  const metaDir = paths.onDevice('/usr/lib/opkg/meta');
  const records = { paths, statusFile, installed, commands, environment };
  const restoration = async (): Promise<Restoration> =>
    (await import('./recovery/restoration.ts')).createRestoration(records);
  return {
    name: 'opkg',
    watchedFolders: installation.statusFolders,
    metaFolders: [metaDir],
    installed,
    atRest: async () => installation.statusCopy.save(await installation.read()),
    offers: async (names) => findOffers(await readConfig(), names),
    listing,
    compareVersions,
    architecture: async () => preferredArchitecture(await readConfig()),
    preview: async (change) =>
      (await import('./planning/preview.ts')).previewChange(installation, change),
    freeBytes: installation.freeBytes,
    imagePackages: async () => imagePackages(paths, await installation.read()),
    // A damaged status file is put right ahead of each job.
    assertUsable: () => Promise.resolve(),
    health: () => Promise.resolve({}),
    setHold: createHold(installation, commands, { auto, restoration }),
    isSolver: false,
    explain: async (command) => (await import('./changing/failure.ts')).explain(command),
    commands,
    around: createTransactionSteps(installation, { auto, damaged, lists, commands }),
    lists,
    files: { ending: 'ipk', inspect: inspectIpk },
    feeds,
    diagnosis: createDiagnosis(installation),
    fileRecords: async function* () {
      yield* fileRecords(installation, await installed());
    },
    selfUpgrade: {
      pack: (name, target) => packInstalled({ name, infoDir, destination, target }),
      script: SELF_UPGRADE_SCRIPT,
      settings: [
        statusFile,
        installation.lockFile,
        ...[...COPY_NAMES, PLAIN_COPY_NAME].map((name) => join(paths.stateDir, name)),
        ...installation.statusFolders,
      ],
    },
    restoration,
  };
}

function createDiagnosis(installation: Installation): Diagnosis {
  const { statusCopy, statusFile, lockFile, lockHolder, read } = installation;
  return {
    findDamage: async () => {
      // While opkg writes it, the file is short.
      if ((await lockHolder()) !== undefined) return undefined;
      if ((await statusCopy.intact()) === undefined) {
        return {
          message: `opkg's record of packages, ${statusFile}, is damaged`,
          remedy: 'begin any package task, such as an update of the lists: it puts the copy back',
        };
      }
      if ((await read()).size > 0) return undefined;
      return {
        message: `opkg has no package on record in ${statusFile}`,
        remedy: 'put the file back from a backup, or install the firmware again',
      };
    },
    lockFile,
    lockHolder,
  };
}
