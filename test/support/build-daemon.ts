import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { build, type Plugin } from 'esbuild';

import { allTexts, pageFiles } from '../../packaging/page-files.mjs';

const ROOT = join(import.meta.dirname, '../..');
const LIST = join(ROOT, 'src/features.ts');

/** Builds a daemon with another list of features. */
export async function buildDaemon(
  outfile: string,
  editList: (source: string) => string,
): Promise<void> {
  const edited: Plugin = {
    name: 'edited',
    setup: (bundler) => {
      bundler.onLoad({ filter: /src\/features\.ts$/ }, async () => ({
        contents: editList(await readFile(LIST, 'utf8')),
        loader: 'ts',
      }));
    },
  };
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/main.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'warning',
    loader: { '.svg': 'text', '.sh': 'text', '.cjs': 'text' },
    plugins: [edited, allTexts(), pageFiles()],
    footer: { js: 'await main(() => undefined);' },
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
}
