import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import {
  configDefaults,
  defineConfig,
  type TestProjectConfiguration,
  type TestUserConfig,
} from 'vitest/config';

import { ALL_TEXTS, PAGE_FILE, packPageFile, packTexts } from './packaging/page-files.mjs';
import { CONTRACTS, groupsLeftOut, TEST_GROUPS } from './test/support/test-groups.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { testProjects, type TestProject } from './test/support/test-projects.ts';

/** Daemons share processes: to start one takes ten times as long as all else of a short test. */
const CHECKED = {
  setupFiles: ['test/support/check-answers.ts'],
  env: { DEPOTD_TEST_HOSTS: 'yes' },
};

/** What the build turns into texts is text here, too. */
const textFiles = {
  name: 'text-files',
  enforce: 'pre' as const,
  resolveId: (source: string, importer: string | undefined) =>
    /\.(?:html|css|svg|client\.js|sh|texts|script\.cjs)$/.test(source)
      ? `\0text:${resolve(importer ?? '', '..', source)}.js`
      : undefined,
  load: async (id: string) => {
    if (!id.startsWith('\0text:')) return undefined;
    const path = id.slice('\0text:'.length, -'.js'.length);
    if (ALL_TEXTS.test(path)) return `export default ${packTexts(dirname(path))}`;
    const text = PAGE_FILE.test(path) ? await packPageFile(path) : readFileSync(path, 'utf8');
    return `export default ${JSON.stringify(text)}`;
  },
};

// Node reads these certificates at each start, which takes as long as all else of it, and no test
// talks to anybody by TLS who has one of them.
delete process.env['NODE_EXTRA_CA_CERTS'];

/**
 * `--mode fast` runs what needs neither root nor other programs, `--mode contracts` also what
 * describes opkg and apk alone. Else all groups run that can; in CI one that cannot is a failure.
 */
export default defineConfig(({ mode }) => {
  const files = [...testProjects()];
  const project = (name: TestProject, settings: TestUserConfig): TestProjectConfiguration => ({
    extends: true,
    mode,
    test: {
      name,
      include: files.filter(([, its]) => its === name).map(([file]) => file),
      ...settings,
    },
  });
  return {
    plugins: [textFiles],
    test: {
      root: new URL('.', import.meta.url).pathname,
      exclude: [...configDefaults.exclude, ...excludedFiles(mode)],
      globalSetup: [
        'test/support/memory-folder.ts',
        ...(mode === 'fast' ? [] : ['test/support/report-left-out.ts']),
      ],
      testTimeout: 60_000,
      hookTimeout: 60_000,
      // What is waited for comes in a moment, but not on a machine that is busy with something else.
      expect: { poll: { timeout: 20_000 } },
      pool: 'forks',
      // The collector's threads save time only where a core is free.
      execArgv: ['--single-threaded-gc'],
      sequence: { sequencer: LongestFirst },
      projects: [
        project('unit', { isolate: false, maxWorkers: 2, sequence: { groupOrder: 0 } }),
        // They wait for programs half of their time. To begin a process and load all modules anew
        // would cost 0.3 s of processor a file.
        project('device', {
          ...CHECKED,
          isolate: false,
          maxWorkers: 6,
          sequence: { groupOrder: 1 },
        }),
        project('apart', { ...CHECKED, maxWorkers: 6, sequence: { groupOrder: 1 } }),
        project('alone', { ...CHECKED, maxWorkers: 1, sequence: { groupOrder: 2 } }),
      ],
    },
  };
});

function excludedFiles(mode: string): string[] {
  if (mode === 'fast') return TEST_GROUPS.flatMap(({ files }) => files);
  const apart = mode === 'contracts' ? [] : CONTRACTS;
  const leftOut = groupsLeftOut();
  if (process.env['CI'] !== undefined && leftOut.length > 0) {
    const names = leftOut.map(({ group, missing }) => `${group.name}: ${missing.join(', ')}`);
    throw new Error(`cannot leave tests out in CI: ${names.join('; ')}`);
  }
  return [...apart, ...leftOut.flatMap(({ group }) => group.files)];
}
