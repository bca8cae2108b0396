import { valuesOf } from '../../config/config.ts';
import { reasonOf } from '../../errors.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';
import type { PackageTools } from '../../package-management/tools.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { backupPlan, write, type BackupTools } from './backup-plan.ts';
import { BACKUP_SECTION } from './options.ts';
import { backupRoutes, receiveInto, RESERVE_BYTES } from './routes.ts';
import { createSets, LIMITS, type Sets } from './sets.ts';

const MIB = 1024 ** 2;

/** The sets, for other features. */
interface OfferedSets extends Pick<Sets, 'all'> {
  /** Takes one in, once all of it is checked. @returns its id @throws DepotError bad_request */
  receive: (content: AsyncIterable<Uint8Array>) => Promise<string>;
}

/** Sets of what the owner asked for and the configuration: made, kept and brought back. */
export function createBackupFeature(
  context: FeatureContext,
  packages: PackageTools,
): Feature & { backups: OfferedSets } {
  const { paths, notes, log } = context;
  const sets = createSets(paths, notes, log);
  const tools: BackupTools = {
    ...{ manager: packages.manager, paths, notes, sets },
    onWritten: () => Promise.resolve(),
  };
  // A removal or an upgrade is made without one as well: that it cannot be written is told alone.
  packages.beforeChange.push(async (reason, { job, note }) => {
    try {
      const file = await sets.place(job.id);
      await write(tools, { id: job.id, reason, file, mostBytes: LIMITS.bytes });
      await sets.prune();
    } catch (error) {
      await note(`there is no backup of before: ${reasonOf(error)}`);
    }
  });
  return {
    backups: {
      all: sets.all,
      receive: async (content) =>
        receiveInto(sets, content, (await sets.freeBytes()) - RESERVE_BYTES),
    },
    documentation: async () => (await import('./documentation.ts')).BACKUP_DOCUMENTATION,
    routes: ({ config }) =>
      backupRoutes({
        ...context,
        sets,
        limitBytes: config.main.upload_max_mb * MIB,
        afterUpgrade: () => valuesOf(config, BACKUP_SECTION).after_upgrade === 1,
      }),
    jobs: {
      backup: {
        lane: PACKAGE_LANE,
        title: () => 'back up',
        plan: (job) => backupPlan(tools, job),
      },
    },
    start: () => sets.sweep(),
  };
}
