import { valuesOf } from '../../config/config.ts';
import { reasonOf } from '../../errors.ts';
import { isEnded } from '../../jobs/job.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { retriedStart } from '../../jobs/retried-start.ts';
import { createAfterUpgrade } from './after-upgrade.ts';
import { backupPlan, write, type BackupTools } from './backup-plan.ts';
import { BACKUP_SECTION } from './options.ts';
import type { RestorePreview } from './preview-restore.ts';
import { createRestoreDue } from './restore-due.ts';
import { restorePlan } from './restore-plan.ts';
import { createResumption } from './resumption.ts';
import { backupRoutes, download, receiveInto } from './routes.ts';
import { createSets, LIMITS, RESERVE_BYTES, type Sets } from './sets.ts';

const MIB = 1024 ** 2;

export interface BackupFeature extends Feature {
  /** The sets, for other features. */
  backups: Pick<Sets, 'all'> & {
    /** Takes one in, once all of it is checked. @returns its id @throws DepotError bad_request */
    receive: (content: AsyncIterable<Uint8Array>) => Promise<string>;
    download: typeof download;
  };
  /** What a restore would do. @throws DepotError not_found, bad_request */
  preview: (backup: string, as: string | undefined) => Promise<RestorePreview>;
}

/** Sets of what the owner asked for and the configuration: made, kept and brought back. */
export function createBackupFeature(
  context: FeatureContext,
  packages: PackageTools,
): BackupFeature {
  const { paths, notes, log, queue } = context;
  const sets = createSets(paths, notes, log);
  const due = createRestoreDue(notes);
  const tools: BackupTools = {
    ...{ manager: packages.manager, paths, notes, sets },
    onWritten: (manifest, file) => afterUpgrade.addSet(manifest, file),
  };
  const afterUpgrade = createAfterUpgrade(tools);
  const isOn = (): boolean => valuesOf(context.config(), BACKUP_SECTION).after_upgrade === 1;
  let refreshing: Promise<void> = Promise.resolve();
  const refresh = (): Promise<void> => {
    refreshing = refreshing
      // Not while a restore is due: until its end not all that the owner asked for is installed.
      .then(async () => ((await due.isDue()) ? undefined : afterUpgrade.refresh(isOn())))
      .catch((error: unknown) => {
        log.warn({ reason: reasonOf(error) }, 'nothing is ready for a firmware upgrade');
      });
    return refreshing;
  };
  const resumption = createResumption({ ...context, sets, due });
  // A removal or an upgrade goes on without a backup: that none can be written is only noted.
  packages.beforeChange.push(async (reason, { job, note }) => {
    try {
      const file = await sets.place(job.id);
      await write(tools, { id: job.id, reason, file, mostBytes: LIMITS.bytes });
      await sets.prune(job.id);
    } catch (error) {
      await note(`there is no backup of before: ${reasonOf(error)}`);
    }
  });
  queue.onChange((job) => {
    if (job.lane === PACKAGE_LANE && isEnded(job.state)) void refresh();
  });
  return {
    backups: {
      all: sets.all,
      download,
      receive: async (content) =>
        (await receiveInto(sets, content, (await sets.freeBytes()) - RESERVE_BYTES)).id,
    },
    preview: async (backup, as) =>
      (await import('./preview-restore.ts')).previewRestore(tools, { backup, as }),
    checks: async () => (await import('./checks.ts')).backupChecks({ ...context, due }),
    documentation: async () => (await import('./documentation.ts')).BACKUP_DOCUMENTATION,
    routes: ({ config }) =>
      backupRoutes({
        ...context,
        ...{ sets, due },
        limitBytes: config.main.upload_max_mb * MIB,
        afterUpgrade: () => valuesOf(config, BACKUP_SECTION).after_upgrade === 1,
      }),
    jobs: {
      backup: { lane: PACKAGE_LANE, title: () => 'back up', plan: (job) => backupPlan(tools, job) },
      restore: {
        lane: PACKAGE_LANE,
        admit: packages.manager.assertUsable,
        title: (subject) => `restore ${subject}`,
        plan: (job) => restorePlan({ ...packages, ...context, sets, due }, job),
      },
    },
    start: retriedStart(async () => {
      const active = queue.all().filter(({ state }) => !isEnded(state));
      await sets.sweep((id) => active.some((job) => job.id === id));
      void refresh();
      await resumption.start();
    }, context),
    keepsUp: resumption.isWaiting,
    reload: refresh,
    close: resumption.close,
  };
}
