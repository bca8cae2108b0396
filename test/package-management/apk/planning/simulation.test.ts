import { describe, expect, test } from 'vitest';

import type { InstalledPackage } from '../../../../src/package-management/database.ts';
import type { PackageChange } from '../../../../src/package-management/manager.ts';
import { checkPlan } from '../../../../src/package-management/apk/planning/plan-check.ts';
import {
  parseSimulation,
  type Simulation,
} from '../../../../src/package-management/apk/planning/simulation.ts';

const checking = (plan: Simulation, change: PackageChange) => (): void =>
  checkPlan(plan, { change, database: DATABASE, image: new Set() });

/** With the line that ends each plan. */
function planOf(changes: string): Simulation {
  return parseSimulation({ exitCode: 0, stdout: `${changes}OK: 1 B in 3 packages\n`, stderr: '' });
}

describe('what apk 3.0.5 prints', () => {
  test('changes are read from it', () => {
    const plan = planOf(`( 1/10) Installing libdemo (1.0-r1)
( 2/10) Upgrading demo-app (1.0-r1 -> 1.1-r1)
( 3/10) Downgrading pinned@edge (1.1-r1 -> 1.0-r1)
(10/10) Purging base-files (1700~abcdef)
`);

    expect(plan.changes).toEqual([
      { action: 'Installing', name: 'libdemo', to: '1.0-r1' },
      { action: 'Upgrading', name: 'demo-app', from: '1.0-r1', to: '1.1-r1' },
      { action: 'Downgrading', name: 'pinned', from: '1.1-r1', to: '1.0-r1' },
      { action: 'Purging', name: 'base-files', from: '1700~abcdef' },
    ]);
  });

  test('what stays, and who needs it, is read from it', () => {
    const plan = planOf(`World updated, but the following packages are not removed due to:
  libdemo: app-meta-demo demo-app
  libc: base-files

(1/1) Upgrading libdemo (1.0-r1 -> 1.1-r1)
`);

    expect(plan.kept).toEqual([
      { name: 'libdemo', neededBy: ['app-meta-demo', 'demo-app'] },
      { name: 'libc', neededBy: ['base-files'] },
    ]);
  });
});

const DATABASE = new Map(
  [
    entry('base-files', { isAuto: false, isEssential: true, depends: ['libc'] }),
    entry('libc', { isEssential: true }),
    entry('app-meta-demo', { isAuto: false, depends: ['demo-app'] }),
    entry('demo-app', { depends: ['libdemo', 'libabi1.0'] }),
    entry('libdemo', {}),
    entry('libabi1.0', {}),
    entry('virt-b', { provides: ['virt'] }),
    entry('glue', { comesWith: ['app-meta-demo', 'needs-virt'] }),
    entry('needs-virt', { isAuto: false, depends: ['virt'] }),
  ].map((item) => [item.name, item]),
);

function entry(
  name: string,
  {
    depends = [],
    ...rest
  }: Partial<Omit<InstalledPackage, 'depends'>> & { depends?: readonly string[] },
): InstalledPackage {
  return {
    name,
    version: '1.0-r1',
    architecture: 'noarch',
    state: 'installed',
    isAuto: true,
    isEssential: false,
    provides: [],
    installedAt: 0,
    ...rest,
    depends: depends.map((dependency) => [dependency]),
  };
}

const PURGE_ALL = `(1/3) Purging app-meta-demo (1.0-r1)
(2/3) Purging base-files (1.0-r1)
(3/3) Installing virt-a (1.0-r1)
`;

describe('a plan', () => {
  test.each([
    ['install', ['x'], '(1/1) Installing x (1.0-r1)\n'],
    ['install', ['x'], '(1/2) Upgrading libdemo (1 -> 2)\n(2/2) Installing x (1.0-r1)\n'],
    ['remove', ['app-meta-demo'], '(1/2) Purging app-meta-demo (1)\n(2/2) Purging demo-app (1)\n'],
    ['remove', ['app-meta-demo'], '(1/2) Purging app-meta-demo (1)\n(2/2) Purging glue (1)\n'],
    ['upgrade', ['demo-app'], '(1/2) Upgrading demo-app (1 -> 2)\n(2/2) Purging libabi1.0 (1)\n'],
  ] as const)('that does what was asked is fine: %s %s', (verb, names, stdout) => {
    expect(checking(planOf(stdout), { verb, names })).not.toThrow();
  });

  test.each([
    {
      what: 'purges the system',
      change: { verb: 'install', names: ['virt-a'] },
      stdout: PURGE_ALL,
      message: 'app-meta-demo, base-files',
    },
    {
      what: 'downgrades',
      change: { verb: 'install', names: ['x'] },
      stdout: '(1/1) Downgrading libdemo (2 -> 1)\n',
      message: 'downgrade libdemo',
    },
    {
      what: 'removes another provider',
      change: { verb: 'install', names: ['virt-a'] },
      stdout: '(1/2) Purging virt-b (1)\n(2/2) Installing virt-a (1)\n',
      message: 'conflicts with virt-b',
    },
    {
      what: 'removes what stays needs',
      change: { verb: 'upgrade', names: ['demo-app'] },
      stdout: '(1/2) Upgrading demo-app (1 -> 2)\n(2/2) Purging libc (1)\n',
      message: 'remove libc',
    },
    {
      what: 'keeps what is to go',
      change: { verb: 'remove', names: ['libdemo'] },
      stdout:
        'World updated, but the following packages are not removed due to:\n' +
        '  libdemo: demo-app\n\n',
      message: 'cannot remove libdemo: demo-app needs it',
    },
    {
      what: 'removes what the device cannot do without',
      change: { verb: 'remove', names: ['libc'] },
      stdout: '(1/1) Purging libc (1)\n',
      message: 'cannot remove libc: the device cannot do without it',
    },
  ] as const)('that $what is refused, with the names', ({ change, stdout, message }) => {
    expect(checking(planOf(stdout), change)).toThrow(message);
  });

  test('that fails for somebody else’s request names that', () => {
    const stderr = `ERROR: unable to select packages:
  gone-pkg (no such package):
    required by: world[gone-pkg]
`;
    const plan = parseSimulation({ exitCode: 1, stdout: '', stderr });

    expect(checking(plan, { verb: 'install', names: ['x'] })).toThrow(
      expect.objectContaining({
        message: 'cannot install x: /etc/apk/world asks for gone-pkg, which no feed has',
        explanation: { code: 'dependency_missing', remedy: 'Remove gone-pkg first.' },
      }),
    );
  });

  /** apk 3.0.5, beside a copy of an index with another one behind it. */
  test('that a damaged copy of an index keeps away says what helps', () => {
    const stderr = `ERROR: unable to select packages:
  other-1.0-r1:
    masked in: --no-network
    satisfies: world[other]
`;
    const plan = parseSimulation({ exitCode: 1, stdout: '', stderr });

    expect(checking(plan, { verb: 'install', names: ['other'] })).toThrow(
      expect.objectContaining({
        message: 'cannot install other: the list of a feed below /var/cache/apk is damaged',
        explanation: {
          code: 'download_failed',
          remedy: 'Update the package lists, then try again.',
        },
      }),
    );
  });

  test('counts for one, whatever the exit code: broken packages of the device are in it', () => {
    const stdout = '(1/1) Purging libdemo (1)\n1 error; 163 B in 2 packages\n';

    const plan = parseSimulation({ exitCode: 1, stdout, stderr: '' });
    expect(checking(plan, { verb: 'remove', names: ['libdemo'] })).not.toThrow();
  });
});
