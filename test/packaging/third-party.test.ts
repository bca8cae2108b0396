import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import {
  ALLOWED_LICENCES,
  bundledFolders,
  licenceIn,
  licencesOf,
} from '../../packaging/third-party.mjs';
import { REPOSITORY } from '../source-tree.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What only builds and tests may be under, too: it goes to nobody. */
const ALLOWED_IN_DEVELOPMENT = [...ALLOWED_LICENCES, 'BlueOak-1.0.0', 'CC0-1.0', 'Python-2.0'];

const readJson = async (path: string): Promise<unknown> =>
  JSON.parse(await readFile(join(REPOSITORY, path), 'utf8'));
const titlesIn = (text: string): string[] =>
  (text.split('\n\n')[1] ?? '').split('\n').map((line) => line.slice(0, line.indexOf(' ')));

describe('the licences of what is bundled', () => {
  test('name every package that the programs import, what those bring along, and nothing that only builds or tests', async () => {
    const text = await readFile(join(REPOSITORY, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    const { dependencies, devDependencies } = (await readJson('package.json')) as Record<
      'dependencies' | 'devDependencies',
      Record<string, string>
    >;
    const titles = titlesIn(text);

    expect(titles).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    // Of packages that are compiled when they are first needed.
    expect(titles).toEqual(expect.arrayContaining(['streamsearch', 'human-signals']));
    expect(titles.filter((name) => Object.hasOwn(devDependencies, name))).toEqual([]);
    expect(text).toContain('Apache License');
    expect(text).toContain('Copyright Brian White. All rights reserved.');
  });

  test('are of packages with a byte in an output, wherever npm put them', () => {
    const input = (bytesInOutput: number) => ({ bytesInOutput });
    const outputs = {
      'dist/one.mjs': {
        inputs: {
          'src/main.ts': input(10),
          'node_modules/one/lib/index.js': input(1),
          'node_modules/one/lib/other.js': input(1),
          'node_modules/shaken-off/index.js': input(0),
          'node_modules/@scope/two/index.js': input(1),
          'node_modules/one/node_modules/three/index.js': input(1),
          'deferred:four': input(1),
        },
      },
    };
    expect(bundledFolders([{ outputs }, { outputs }])).toEqual([
      'node_modules/@scope/two',
      'node_modules/one',
      'node_modules/one/node_modules/three',
    ]);
  });

  test.each(['../elsewhere/index.js', 'vendor/it/index.js', '/opt/it/index.js'])(
    'cannot be told of %s, which is neither a source of ours nor a package',
    (path) => {
      const outputs = { 'dist/one.mjs': { inputs: { [path]: { bytesInOutput: 1 } } } };
      expect(() => bundledFolders([{ outputs }])).toThrow(`cannot bundle ${path}: `);
    },
  );

  test('have the notices with them', async () => {
    const root = await packageWith({ license: 'Apache-2.0' }, ['LICENSE', 'NOTICE', 'README.md']);
    expect(licencesOf(root, ['it'])).toMatch(
      /\nit 1\.0\.0 \(Apache-2\.0\)\n[^]*\ntext of LICENSE\n\ntext of NOTICE\n$/,
    );
  });

  test('are whole, what many say word for word under the first of them', async () => {
    const words = 'Permission is hereby granted, free of charge,\nto any person.';
    const root = await packageWith({ license: 'MIT' }, []);
    await writeFile(join(root, 'it/LICENSE'), `Copyright A\n\n${words}`);
    await writeFile(join(root, 'it/license.md'), `Copyright B\n\n${words.replace('\n', ' ')}`);
    await writeFile(join(root, 'it/license.txt'), `Copyright C\n\n${words} But not C's.`);

    expect(licencesOf(root, ['it'])).toContain(
      `\n\nCopyright A\n\n${words}\n\n` +
        'Copyright B\n\nPermission as under it 1.0.0 (MIT) above.\n\n' +
        `Copyright C\n\n${words} But not C's.\n`,
    );
  });

  test.each<[string, object, string[], string]>([
    ['a licence that asks for more', { license: 'GPL-3.0-only' }, ['LICENSE'], 'GPL-3.0-only'],
    ['no licence', {}, ['LICENSE'], 'none that is named'],
    ['two', { licenses: [{ type: 'MIT' }, { type: 'GPL-3.0' }] }, ['LICENSE'], 'MIT and GPL-3.0'],
    ['a second field', { license: 'MIT', licenses: ['GPL-2.0'] }, ['LICENSE'], 'MIT and GPL-2.0'],
    ['no text of it', { license: 'MIT' }, ['README.md'], 'without the text of its licence'],
    ['a program of that name', { license: 'MIT' }, ['license.js', 'license-check.cjs'], 'without'],
  ])('end the build where a package has %s', async (...[, about, files, message]) => {
    const root = await packageWith(about, files);
    expect(() => licencesOf(root, ['it'])).toThrow(message);
  });

  test.each([
    ['an empty text', ' \n', 'without the text of its licence'],
    ['the text of another licence', '  GNU AFFERO GENERAL PUBLIC LICENSE\n', 'GNU AFFERO GENERAL'],
  ])('end the build where a package has %s', async (_, text, message) => {
    const root = await packageWith({ license: 'MIT' }, []);
    await writeFile(join(root, 'it/LICENSE'), text);
    expect(() => licencesOf(root, ['it'])).toThrow(message);
  });
});

describe('the lock file', async () => {
  const { packages } = (await readJson('package-lock.json')) as {
    packages: Record<string, { license?: string; dev?: boolean }>;
  };
  const entries = Object.entries(packages).filter(([folder]) => folder !== '');

  test.each([
    ['that programs may contain', false, ALLOWED_LICENCES],
    ['that builds and tests use', true, ALLOWED_IN_DEVELOPMENT],
  ])('has no package %s under a licence that is not on the list', async (_, isDev, allowed) => {
    const found = entries.filter(([, { dev = false }]) => dev === isDev);
    expect(found.length).toBeGreaterThan(20);
    const wrong: string[] = [];
    for (const [folder, { license }] of found) {
      const licence = license ?? licenceIn((await readJson(`${folder}/package.json`)) as object);
      if (!allowed.includes(licence)) wrong.push(`${folder}: ${licence}`);
    }
    expect(wrong).toEqual([]);
  });
});

/** A package `it` in a folder of its own. */
async function packageWith(about: object, files: readonly string[]): Promise<string> {
  const root = await temporaryFolder();
  await mkdir(join(root, 'it'));
  await writeFile(
    join(root, 'it/package.json'),
    JSON.stringify({ name: 'it', version: '1.0.0', ...about }),
  );
  for (const file of files) await writeFile(join(root, 'it', file), `text of ${file}\r\n`);
  return root;
}
