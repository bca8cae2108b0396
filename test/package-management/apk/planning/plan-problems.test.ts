import { expect, test } from 'vitest';
import { checkPlan } from '../../../../src/package-management/apk/planning/plan-check.ts';
import { planProblems } from '../../../../src/package-management/apk/planning/plan-problems.ts';
import type { Simulation } from '../../../../src/package-management/apk/planning/simulation.ts';
import type { PackageDatabase } from '../../../../src/package-management/database.ts';
import { DepotError } from '../../../../src/errors.ts';

const DATABASE: PackageDatabase = new Map([
  [
    'former',
    {
      ...{ name: 'former', version: '1.0-r1', state: 'installed', isAuto: false },
      ...{ isEssential: false, depends: [], provides: [] },
    } as never,
  ],
]);
const WANTED = {
  change: { verb: 'install' as const, names: ['newer'] },
  database: DATABASE,
  image: new Set<string>(),
};
const NOTHING = {
  isSolved: true,
  missing: [],
  fault: 'breaks: other-1.0-r1[!third]',
  stderr: '',
  changes: [],
};
const SWAP = [
  { action: 'Purging', name: 'former' },
  { action: 'Installing', name: 'newer' },
];

test.each([
  ['a swap', { changes: SWAP }],
  ['a removal that nobody asked for', { changes: SWAP.slice(0, 1) }],
  [
    'a version that nobody has, beside a conflict',
    {
      isSolved: false,
      stderr:
        'ERROR: unable to select packages:\n' +
        '  low-1.0-r1:\n    breaks: mid-1.0-r1[low>=3.0-r1]\n' +
        '  third-1.0-r1:\n    breaks: other-1.0-r1[!third]\n',
    },
  ],
])('of %s the plan says what the job says', (_, found) => {
  const plan = { ...NOTHING, ...found } as unknown as Simulation;
  const refused = refusalOf(plan);

  const [problem] = planProblems(plan, WANTED);

  expect(problem).toMatchObject({ message: refused.message, ...refused.explanation });
});

function refusalOf(plan: Simulation): DepotError {
  try {
    checkPlan(plan, WANTED);
  } catch (error) {
    if (error instanceof DepotError) return error;
  }
  throw new Error('the plan is not refused');
}
