// `npm run build`: bundled programs, which run with no node_modules beside them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build as esbuild } from 'esbuild';
import { allTexts, pageFiles } from './page-files.mjs';
import { assertNarrow, joinChunks } from './chunks.mjs';
import { createTextsBehind, packed } from './texts-behind.mjs';
import { bundledFolders, licencesOf, packagesOf } from './third-party.mjs';

const root = new URL('..', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

/** What each build is made of. */
const metafiles = [];

async function build(settings) {
  const result = await esbuild({ ...settings, metafile: true });
  metafiles.push(result.metafile);
  return result;
}

// CommonJS packages inside an ES module bundle still call require() for Node's own modules.
const requireForBundled =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Programs for a shell or for Node beside the daemon are text to it, too, without the comments. */
const programTexts = {
  name: 'program-texts',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.(?:sh|script\.cjs)$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/^[ \t]*(?:#(?!!)|\/\/).*\n/gm, ''),
      loader: 'text',
    }));
  },
};

/**
 * Packages that are imported when they are first needed, with the names that the sources take from
 * them. They are bundled as packed text and compiled then: V8 parses the whole of a file when it starts,
 * and these are two fifths of it.
 */
const DEFERRED = {
  '@valibot/to-json-schema': ['toJsonSchema'],
  busboy: ['default'],
  execa: ['execa'],
  'systeminformation/lib/filesystem.js': ['blockDevices'],
};

/** @param keep what stands for a packed text */
const deferredPackages = (keep) => ({
  name: 'deferred-packages',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'dynamic-import' && Object.hasOwn(DEFERRED, path)
        ? { path, namespace: 'deferred' }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'deferred' }, async ({ path }) => {
      const contents = `export { ${DEFERRED[path].join(', ')} } from ${JSON.stringify(path)};`;
      const { outputFiles } = await build({
        ...options,
        stdin: { contents, resolveDir: options.absWorkingDir },
        format: 'cjs',
        write: false,
      });
      return {
        contents: compileLater(path, keep(packed(outputFiles[0].text))),
        resolveDir: options.absWorkingDir,
      };
    });
  },
});

function compileLater(name, packed) {
  const exported = DEFERRED[name].map((name) =>
    name === 'default'
      ? 'export default module.exports.default;'
      : `export const ${name} = module.exports.${name};`,
  );
  return `import { compileFunction } from 'node:vm';
import { gunzipSync } from 'node:zlib';
const module = { exports: {} };
const text = gunzipSync(Buffer.from('${packed}', 'base64')).toString();
compileFunction(text, ['module', 'exports', 'require'], { filename: ${JSON.stringify(name)} })(module, module.exports, require);
${exported.join('\n')}`;
}

/**
 * What packages ask for and the daemon never uses: HTTP/2, worker threads, what writes from one, a
 * loader of modules, and all but one line of assert. Node would load some 50 modules of its own for
 * them, at each start.
 */
const UNUSED = {
  assert: 'module.exports = (holds, message) => { if (!holds) throw new Error(message); };',
  'node:http2': 'export class Http2ServerRequest {} export const constants = {};',
  module: 'export const createRequire = undefined;',
  'thread-stream': 'export default class {}',
  worker_threads: 'export const isMainThread = true;',
};

const unusedModules = {
  name: 'unused-modules',
  setup: ({ onResolve, onLoad }) => {
    const filter = new RegExp(`^(?:${Object.keys(UNUSED).join('|')})$`);
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'unused' }));
    onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({ contents: UNUSED[path] }));
  },
};

/**
 * What other libraries would ask a schema of valibot: seven hundred functions that nobody calls. And
 * an expression of all emoji, which V8 would parse at each start.
 */
const plainSchemas = {
  name: 'plain-schemas',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/valibot\/dist\/index\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const bare = text.replace(/^\s*schema\["~standard"\] = \{[^]*?^\s*\};\n/m, '');
      if (bare === text) throw new Error(`cannot find "~standard" in ${path}`);
      const contents = bare.replace(/^const EMOJI_REGEX = .*\n/m, 'const EMOJI_REGEX = null;\n');
      if (contents === bare) throw new Error(`cannot find EMOJI_REGEX in ${path}`);
      return { contents };
    });
  },
};

/**
 * Modules of Node that a start does not need, and what depends on them: Node loads one when a
 * function of it is first called.
 */
const LOADED_LATER = ['crypto', 'v8', 'fs/promises', 'timers/promises'];

/** What a start takes of `fs/promises`, which brings readline and more, is made of `fs`. */
const OF_FS = ['access', 'lstat', 'mkdir', 'readFile', 'readdir', 'readlink', 'stat'];

/** Replaces a module of Node by an ES module, of which esbuild keeps what is imported. */
function replaceNodeModules(name, paths, contentsOf) {
  const filter = new RegExp(`^(?:node:)?(?:${paths.join('|')})$`);
  return {
    name,
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter }, ({ path, namespace, importer }) =>
        namespace === name || importer.endsWith(QUICK_PATHS.slice(1))
          ? { path, external: true }
          : { path: path.replace(/^node:/, ''), namespace: name },
      );
      onLoad({ filter: /.*/, namespace: name }, ({ path }) => ({
        contents: contentsOf(path),
        resolveDir: options.absWorkingDir,
      }));
    },
  };
}

const laterModules = replaceNodeModules('later', LOADED_LATER, (path) => {
  const module = process.getBuiltinModule(path);
  const [ofFs, constants] =
    path === 'fs/promises' ? [OF_FS, "export { constants } from 'node:fs';"] : [[], ''];
  const later = Object.keys(module).filter(
    (name) => typeof module[name] === 'function' && !ofFs.includes(name),
  );
  return `import * as fs from 'node:fs';
import { promisify } from 'node:util';
${constants}
${ofFs.map((name) => `export const ${name} = /* @__PURE__ */ promisify(fs.${name});`).join('\n')}
${later.map((name) => `export const ${name} = (...given) => require('node:${path}').${name}(...given);`).join('\n')}`;
});

const QUICK_PATHS = './src/runtime/quick-paths.ts';

/** Paths are mostly normal already, and Node goes through each character by character. */
const quickPaths = replaceNodeModules('quick', ['path'], () => {
  const own = ['join', 'normalize', 'relative', 'resolve'];
  const others = Object.keys(process.getBuiltinModule('path')).filter(
    (name) => !own.includes(name),
  );
  return `export { ${others.join(', ')} } from 'node:path';
export { ${own.join(', ')} } from '${QUICK_PATHS}';`;
});

const options = {
  absWorkingDir: fileURLToPath(root),
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
};

/** As src/start.ts reads it. */
const HEAD_BYTES = 32;

const behind = createTextsBehind();
const chunks = await build({
  ...options,
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  entryNames: '[name]',
  write: false,
  format: 'esm',
  splitting: true,
  loader: { '.svg': 'text' },
  define: { 'process.env.DEPOTD_VERSION': JSON.stringify(version) },
  plugins: [
    allTexts(['name', 'page', 'steps', 'remedies', 'sentences'], behind.keep),
    pageFiles(build, behind.keep),
    programTexts,
    deferredPackages(behind.keep),
    unusedModules,
    plainSchemas,
    laterModules,
    quickPaths,
  ],
});

const text = await joinChunks(chunks, { options, behind });
const texts = behind.texts();
assertNarrow('dist/depotd.cjs', text);
const hash = createHash('sha256').update(text).update(texts).digest('hex').slice(0, 16);
const head = `// ${hash} ${HEAD_BYTES + text.length} `.padEnd(HEAD_BYTES - 1);
mkdirSync(new URL('dist', root), { recursive: true });
const [bundle, next] = ['depotd.cjs', 'depotd.cjs.new'].map(
  (name) => new URL(`dist/${name}`, root),
);
writeFileSync(next, Buffer.concat([Buffer.from(`${head}\n${text}`), texts]));
// A daemon that runs goes on reading its texts in the file of before.
renameSync(next, bundle);

const starter = {
  ...options,
  entryPoints: ['src/start.ts'],
  banner: { js: '#!/usr/bin/env node' },
};
await build({ ...starter, outfile: 'dist/depotd.mjs', format: 'esm' });
await build({
  ...starter,
  outfile: 'dist/start.cjs',
  format: 'cjs',
  define: { 'import.meta.dirname': '__dirname' },
});

await build({
  ...options,
  entryPoints: ['src/cli/depotctl.ts'],
  outfile: 'dist/depotctl.mjs',
  format: 'esm',
  define: { 'process.env.DEPOTD_VERSION': JSON.stringify(version) },
  // A command line says what the daemon says, and no text of the page.
  plugins: [
    allTexts(['sentences', 'remedies', 'command', 'words', 'steps']),
    programTexts,
    deferredPackages((packed) => packed),
  ],
  banner: { js: `#!/usr/bin/env node\n${requireForBundled}` },
});

assertNarrow('dist/depotctl.mjs', readFileSync(new URL('dist/depotctl.mjs', root), 'utf8'));

const bundled = bundledFolders(metafiles);
const lock = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'));
writeFileSync(
  new URL('dist/THIRD-PARTY-LICENSES.txt', root),
  licencesOf(fileURLToPath(root), bundled),
);
writeFileSync(
  new URL('dist/bundled-packages.json', root),
  `${JSON.stringify(packagesOf(fileURLToPath(root), bundled, lock), null, 2)}\n`,
);
