import { lockHolderOf } from '../../device/lock-holder.ts';
import { reasonOf } from '../../errors.ts';
import type { HealthReport } from '../../http/health-report.ts';
import type { Diagnosis } from '../diagnosis.ts';
import { explainingLists } from '../failed-feeds.ts';
import type { BackendContext, PackageManager } from '../manager.ts';
import { fileRecords, readHashes } from './database/installed-db.ts';
import { readPackageFile } from './package-file/apk-file.ts';
import { compareVersions } from './compare-versions.ts';
import { readFeeds } from './feeds/feed-lines.ts';
import { createFeedSettings } from './feeds/feed-settings.ts';
import { openInstallation, type Installation } from './installation.ts';
import { createListing } from './feeds/listing.ts';
import { createLists } from './feeds/lists.ts';
import { readArchitectures } from './feeds/index-files.ts';
import { freeBytesAt } from './planning/space.ts';
import { createTransactionSteps } from './changing/transaction-steps.ts';
import { packInstalled } from './package-file/repack.ts';
import SELF_UPGRADE_SCRIPT from './self-upgrade.sh';
import { createHold, dropOwnPins, findHashPins, markHeldDependencies } from './changing/hold.ts';

/** apk 3, and its records read without it. */
export function createApk(context: BackendContext): PackageManager {
  const { paths } = context;
  const installation = openInstallation(context);
  const { locations, commands, reader } = installation;
  const feeds = createFeedSettings({ paths, locations, commands });
  const lists = explainingLists(createLists(locations), { ...context, feeds });
  return {
    name: 'apk',
    watchedFolders: [locations.database, locations.configuration],
    metaFolders: ['/lib/apk/meta', '/usr/lib/opkg/meta'].map(paths.onDevice),
    installed: async () => markHeldDependencies(await reader.read(), context.notes),
    builds: () => readHashes(locations.installed),
    atRest: () => dropOwnPins(installation),
    offers: (names) => installation.offers(names),
    listing: createListing({ paths, ...installation }),
    compareVersions,
    architecture: async () => (await readArchitectures(paths))[0] ?? '',
    assertUsable: installation.assertUsable,
    health: () => healthOf(installation),
    freeBytes: () => freeBytesAt(paths.root),
    imagePackages: installation.imagePackages,
    preview: async (change) =>
      (await import('./planning/preview.ts')).previewChange(installation, change),
    setHold: createHold(installation, context.notes),
    isSolver: true,
    explain: async (command) => (await import('./changing/failure.ts')).explain(command),
    commands,
    around: createTransactionSteps(installation, lists),
    lists,
    files: {
      ending: 'apk',
      inspect: async (file, mostBytes) => {
        const { name, version, depends, installedBytes } = await readPackageFile(file, mostBytes);
        return { name, version, depends, installedBytes };
      },
    },
    feeds,
    diagnosis: createDiagnosis(installation),
    fileRecords: async function* () {
      yield* await fileRecords(locations.installed, paths.onDevice('/lib/apk/packages'));
    },
    selfUpgrade: {
      pack: (name, target) => packInstalled({ name, target, root: paths.root, locations }),
      script: SELF_UPGRADE_SCRIPT,
      settings: [locations.installed, locations.world, locations.empty],
    },
    restoration: async () =>
      (await import('./recovery/restoration.ts')).createRestoration(installation),
  };
}

/**
 * A package that is broken fails nobody else's job, and a line that is no feed takes away only what
 * that feed has; records that cannot be read stop all.
 */
async function healthOf({ reader, locations, assertRecords }: Installation): Promise<HealthReport> {
  const { garbage } = await readFeeds(locations.feeds);
  const lines = garbage.map(({ feed, reason }) => `${feed.name}: ${reason}`);
  const facts = lines.length === 0 ? {} : { unreadable_feeds: lines };
  try {
    await assertRecords();
    const broken = [...(await reader.read()).values()]
      .filter(({ state }) => state === 'unpacked')
      .map(({ name }) => name);
    return { facts: { ...facts, ...(broken.length === 0 ? {} : { broken_packages: broken }) } };
  } catch (error) {
    return { problems: [reasonOf(error)], facts };
  }
}

function createDiagnosis(installation: Installation): Diagnosis {
  const { assertSound, copy, locations } = installation;
  const lockHolder = (): Promise<number | undefined> => lockHolderOf(locations.lock, 'FLOCK');
  return {
    findDamage: async () => {
      // World and the record are replaced one after the other.
      if ((await lockHolder()) !== undefined) return undefined;
      return assertSound().then(
        () => undefined,
        (error: unknown) => ({
          message: reasonOf(error),
          remedy: `put the records right by hand; those of before are in ${copy.folder}`,
        }),
      );
    },
    lockFile: locations.lock,
    lockHolder,
    hashPins: () => findHashPins(installation),
  };
}
