import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that last 20 s or more, most of it waiting, and small ones that last 7 s. */
const LONGEST = [
  'test/features/container-data/copy-failure.test.ts',
  'test/features/container-data/disk-away.test.ts',
  'test/features/container-data/migrate.test.ts',
  'test/features/fleet/failed-downloads.test.ts',
  'test/features/fleet/forced.test.ts',
  'test/features/fleet/hostile-server.test.ts',
  'test/features/fleet/never-twice.test.ts',
  'test/features/login/event-sessions.test.ts',
  'test/features/packages/interruption.test.ts',
  'test/features/preview/bounded-previews.test.ts',
  'test/features/preview/hostile-lists.test.ts',
  'test/features/self-upgrade/apk.test.ts',
  'test/features/self-upgrade/routes.test.ts',
  'test/features/tasks/damaged-records.test.ts',
  'test/features/undo/confirm.test.ts',
  'test/features/undo/cut-off.test.ts',
  'test/device/sole-daemon.test.ts',
  'test/faults/faults.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/http/pipelining.test.ts',
  'test/http/slow-clients.test.ts',
  'test/jobs/left-services.test.ts',
  'test/package-management/apk/apps.test.ts',
  'test/package-management/apk/failure-table.test.ts',
  'test/package-management/apk/failures.test.ts',
  'test/package-management/opkg/database/status-file.test.ts',
  'test/packaging/page.test.ts',
  'test/packaging/relay.test.ts',
  'test/panel/interruptions.test.ts',
  'test/power/power.test.ts',
  'test/soak/soak.test.ts',
];
const BESIDE_LONG = ['device', 'apart'];
const SHORT_BETWEEN = 6;

/**
 * vitest begins with the largest files where it knows no times, as on a clean checkout: what is
 * small and slow would be all that is left to do, for one of the workers. All at once they would
 * wait together.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONGEST.some((file) => moduleId.endsWith(file));
    const sorted = await super.sort(files);
    const short = sorted.filter((file) => !isLong(file));
    // Of the same workers: what is of other groups stands between them to no effect.
    const between = short.filter(({ project }) => BESIDE_LONG.includes(project.name));
    const others = short.filter(({ project }) => !BESIDE_LONG.includes(project.name));
    const spread = sorted
      .filter(isLong)
      .flatMap((file) => [file, ...between.splice(0, SHORT_BETWEEN)]);
    return [...others, ...spread, ...between];
  }
}
