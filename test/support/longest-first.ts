import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that last half a minute or more, though they are small. */
const LONGEST = [
  'test/package-management/apk/interruption.test.ts',
  'test/features/self-upgrade/routes.test.ts',
  'test/features/preview/hostile-lists.test.ts',
  'test/faults/faults.test.ts',
  'test/features/container-data/disk-away.test.ts',
  'test/device/sole-daemon.test.ts',
  'test/power/power.test.ts',
  'test/features/preview/bounded-previews.test.ts',
  'test/features/self-upgrade/apk.test.ts',
  'test/cli/terminal/others-text.test.ts',
  'test/features/container-data/copy-failure.test.ts',
  'test/jobs/journal/large-journal.test.ts',
  'test/panel/luci-apps.test.ts',
  'test/packaging/page.test.ts',
];

/**
 * vitest begins with the largest files where it knows no times, as on a clean checkout: what is
 * small and slow would be all that is left to do, for one of the workers.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONGEST.some((file) => moduleId.endsWith(file));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
