import { groupsLeftOut } from './test-groups.ts';

/** After the tests: a line for each group that did not run, with what it misses. */
export function teardown(): void {
  for (const { group, missing } of groupsLeftOut()) {
    console.error(`left out: ${group.name}, for want of ${missing.join(', ')}`);
  }
}
