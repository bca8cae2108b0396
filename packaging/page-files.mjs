// What the built-in pages are made of, as the daemon carries it.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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

/** What stands for all languages, in the folder of their files. */
export const ALL_TEXTS = /\/all\.texts$/;

/**
 * @param sections what of a file is needed; default: all of it
 * @param keep what stands for a packed text
 * @returns by the code of a language: its name, the tags that name it, and its file, packed
 */
export function packTexts(folder, sections, keep = asIs) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const entries = files.sort().map((file) => {
    const texts = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const names = sections ?? Object.keys(texts);
    const needed = Object.fromEntries(names.map((name) => [name, texts[name]]));
    const packed = keep(gzipSync(JSON.stringify(needed), { level: 9 }).toString('base64'));
    return [basename(file, '.json'), { name: texts.name, tags: texts.tags, packed }];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

/**
 * A plugin of esbuild.
 * @param sections as packTexts has them
 */
export function allTexts(sections, keep = asIs) {
  return {
    name: 'all-texts',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: ALL_TEXTS }, ({ path, resolveDir }) => ({
        // Names of chunks are made of this: in whatever folder the sources lie, it is the same.
        path,
        pluginData: dirname(join(resolveDir, path)),
        namespace: 'texts',
      }));
      onLoad({ filter: /.*/, namespace: 'texts' }, ({ pluginData }) => ({
        contents: packTexts(pluginData, sections, keep),
        loader: 'json',
      }));
    },
  };
}

/** A plugin of esbuild. */
export function pageFiles(build, keep = asIs) {
  return {
    name: 'page-files',
    setup: ({ onLoad }) => {
      onLoad({ filter: PAGE_FILE }, async ({ path }) => ({
        contents: keep(await packPageFile(path, build)),
        loader: 'text',
      }));
    },
  };
}

function asIs(packed) {
  return packed;
}
