import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';

import { allTexts } from '../../packaging/page-files.mjs';

test('a chunk has the same name in whatever folder its sources lie', async () => {
  expect(await chunksOf('depotd-here-')).toEqual(await chunksOf('depotd-elsewhere-'));
});

async function chunksOf(prefix: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'de.json'), '{"name":"Deutsch","tags":["de"]}');
  await writeFile(join(folder, 'later.js'), "export { default } from './all.texts';");
  await writeFile(join(folder, 'main.js'), "export const later = () => import('./later.js');");
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ['main.js'],
    outdir: 'dist',
    bundle: true,
    minify: true,
    splitting: true,
    write: false,
    format: 'esm',
    plugins: [allTexts(['name'])],
  });
  return outputFiles.map(({ path }) => basename(path));
}
