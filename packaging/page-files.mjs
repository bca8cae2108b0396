// What the built-in pages are made of, as the daemon carries it.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build as esbuild } from 'esbuild';

/** Style sheets and scripts for a browser are bundled with what they import. */
export const PAGE_FILE = /\.(?:client\.js|css|html)$/;

/**
 * Compressed, in base64: the daemon's file is smaller by it, and so is the memory of a daemon whose
 * page nobody asks for.
 * @param build esbuild's, or one that keeps record of what it bundled
 * @returns gzip (RFC 1952) of the text, in base64
 */
export async function packPageFile(path, build = esbuild) {
  return gzipSync(await textOf(path, build), { level: 9 }).toString('base64');
}

async function textOf(path, build) {
  if (path.endsWith('.html')) return markupOf(path);
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    minify: true,
    write: false,
  });
  return outputFiles[0].text.trim();
}

/**
 * With the files that it names; a line break is a space, as browsers show it.
 * @param prefix what an included file has in its ids for `PREFIX`, as who includes it says
 */
export function markupOf(path, prefix = '') {
  return readFileSync(path, 'utf8')
    .replaceAll('PREFIX', prefix)
    .replace(/<!-- include (\S+)(?: as (\S+))? -->/g, (_, name, as) =>
      markupOf(join(dirname(path), name), as),
    )
    .replace(/\n\s*/g, ' ');
}

/** A plugin of esbuild. */
export function pageFiles(build) {
  return {
    name: 'page-files',
    setup: ({ onLoad }) => {
      onLoad({ filter: PAGE_FILE }, async ({ path }) => ({
        contents: await packPageFile(path, build),
        loader: 'text',
      }));
    },
  };
}
