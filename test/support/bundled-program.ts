import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { build, type Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '../..');
/** Below node_modules, so that packages are found from there. */
const FOLDER = join(ROOT, 'node_modules/.cache/test-programs');

/** Whatever asks where it lies is told where its source does. */
const sourceLocations: Plugin = {
  name: 'source-locations',
  setup: (bundler) => {
    bundler.onLoad({ filter: /(?:src|test|packaging)\/.*\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
      loader: 'ts',
    }));
  },
};

/**
 * A TypeScript program as one file that plain Node runs: to compile it in each of its processes
 * would cost a second of processor every time. Gives the file's path, named for its content.
 */
export async function bundledProgram(source: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [source],
    write: false,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'warning',
    loader: { '.sh': 'text', '.cjs': 'text' },
    plugins: [sourceLocations],
  });
  const text = outputFiles[0]?.text ?? '';
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const path = join(FOLDER, `${basename(source, '.ts')}-${hash}.mjs`);
  if (existsSync(path)) return path;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(`${path}.${process.pid}`, text);
  await rename(`${path}.${process.pid}`, path);
  return path;
}
