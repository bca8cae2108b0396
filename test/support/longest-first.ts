import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that last some 20 s or more, most of it waiting, in the order in which they run: one of a
 * minute and one of 20 s in turn.
 */
const LONGEST = [
  'test/features/self-upgrade/routes.test.ts',
  'test/planted-names.test.ts',
  'test/features/container-data/migrate.test.ts',
  'test/features/packages/old-lists.test.ts',
  'test/faults/faults.test.ts',
  'test/features/undo/apk-undo.test.ts',
  'test/features/fleet/failed-downloads.test.ts',
  'test/features/login/event-sessions.test.ts',
  'test/device/sole-daemon.test.ts',
  'test/jobs/left-services.test.ts',
  'test/package-management/apk/failure-table.test.ts',
  'test/panel/interruptions.test.ts',
  'test/features/self-upgrade/apk.test.ts',
  'test/daemon/idle-exit.test.ts',
  'test/features/fleet/hostile-server.test.ts',
  'test/features/fleet/hanging.test.ts',
  'test/features/preview/hostile-lists.test.ts',
  'test/features/preview/bounded-previews.test.ts',
  'test/package-management/apk/failures.test.ts',
  'test/features/backup/after-upgrade.test.ts',
  'test/http/pipelining.test.ts',
  'test/features/forge/connections.test.ts',
  'test/power/power.test.ts',
  'test/features/packages/written-down.test.ts',
  'test/features/undo/confirm.test.ts',
  'test/packaging/relay.test.ts',
  'test/features/fleet/self-upgrade.test.ts',
  'test/features/tasks/damaged-records.test.ts',
  'test/features/container-data/left-behind.test.ts',
  'test/features/backup/restore.test.ts',
  'test/features/undo/cut-off.test.ts',
  'test/panel/awkward-device.test.ts',
  'test/features/container-data/copy-failure.test.ts',
  'test/features/container-data/disk-away.test.ts',
  'test/package-management/apk/apps.test.ts',
  'test/panel/undo.test.ts',
  'test/features/packages/interruption.test.ts',
  'test/features/packages/emptied-record.test.ts',
  'test/features/fleet/never-twice.test.ts',
  'test/package-management/opkg/database/status-file.test.ts',
  'test/http/slow-clients.test.ts',
  'test/package-management/apk/interruption.test.ts',
];
const BESIDE_LONG = ['device', 'apart'];
const SHORT_BETWEEN = 7;

/**
 * vitest begins with the largest files where it knows no times, as on a clean checkout: what is
 * small and slow would be all that is left to do, for one of the workers. All at once they would
 * wait together.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number =>
      LONGEST.findIndex((file) => moduleId.endsWith(file));
    const sorted = await super.sort(files);
    const short = sorted.filter((file) => rankOf(file) < 0);
    const long = sorted.filter((file) => rankOf(file) >= 0);
    // Of the same workers: what is of other groups stands between them to no effect.
    const between = short.filter(({ project }) => BESIDE_LONG.includes(project.name));
    const others = short.filter(({ project }) => !BESIDE_LONG.includes(project.name));
    const spread = long
      .sort((one, other) => rankOf(one) - rankOf(other))
      .flatMap((file) => [file, ...between.splice(0, SHORT_BETWEEN)]);
    return [...others, ...spread, ...between];
  }
}
