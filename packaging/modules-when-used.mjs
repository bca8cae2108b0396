// The daemon's own modules, each run when something of it is first used.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { transform } from 'esbuild';

/**
 * A plugin of esbuild, which by itself joins the modules into one scope, so that V8 makes all that
 * any of them has with each start. Here a module is a function of its own, and a name that is
 * imported is a call of it, there where the name is used: a start runs two fifths of them.
 */
export const modulesWhenUsed = {
  name: 'modules-when-used',
  setup: ({ onResolve, onLoad }) => {
    // In a namespace, since package.json says that a file's module is one of ES.
    onResolve({ filter: /\.ts$/ }, ({ path, resolveDir, kind }) => ({
      path: join(resolveDir, path.replace(WHOLE, '')),
      namespace: kind === 'entry-point' || path.startsWith(WHOLE) ? 'whole' : 'when-used',
    }));
    onLoad({ filter: /.*/, namespace: 'when-used' }, async ({ path }) => ({
      contents: whenUsed(await commonOf(path)),
      resolveDir: dirname(path),
    }));
    onLoad({ filter: /.*/, namespace: 'whole' }, async ({ path }) => ({
      contents: wholeOf(path, await commonOf(path)),
      resolveDir: dirname(path),
    }));
    onResolve({ filter: /^valibot$/ }, ({ path, namespace }) =>
      namespace === 'when-used' ? { path, namespace: 'used-names' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'used-names' }, ({ path }) => ({
      contents: `export { ${valibotNames('src').join(', ')} } from '${path}';`,
      resolveDir: resolve('.'),
    }));
  },
};

/** The module as one of CommonJS. */
async function commonOf(path) {
  const { code } = await transform(readFileSync(path, 'utf8'), {
    loader: 'ts',
    format: 'cjs',
    target: 'node20.19',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  return code;
}

/** Names of a module's members end so, and are made short by that. */
export const SHORTENED = /\w_\$$/;
/** Before a module that is asked for as a whole, by its members' own names. */
const WHOLE = 'whole:';

/** What esbuild begins such a module with: its helpers, and the list of exports. */
const HEAD =
  /^[^]*?^var stdin_exports = \{\};\n(?:__export\(stdin_exports, \{([^]*?)^\}\);\n)?module\.exports = .*\n/m;
const IMPORT = /^var (import_\w+) = (__toESM\()?(require\("[^"]+"\))\)?;\n/gm;
const NAMESPACE = /^(var \w+ = )__toESM\((require\("[^"]+"\))\);$/gm;

function whenUsed(code) {
  const [head, exported] = HEAD.exec(code);
  const calls = new Map();
  for (const [, name, isDefault, call] of code.matchAll(IMPORT)) {
    // Texts are the whole of their module, but for one whose name is that of an ES module.
    calls.set(isDefault && !call.endsWith('.js")') ? `${name}.default` : name, call);
  }
  const body = code
    .slice(head.length)
    .replace(IMPORT, '')
    .replace(NAMESPACE, '$1$2;')
    .replace(/\bimport\("([^"]+")\)/g, (_, path) => {
      const from = path.endsWith('.ts"') ? WHOLE : '';
      return `Promise.resolve().then(() => require("${from}${path}))`;
    })
    .replace(/\(0, (import_\w+\.\w+)\)/g, '$1')
    .replace(/\bnew (import_\w+\.\w+)/g, 'new ($1)')
    .replace(/\b(import_\w+)\.(\w+)/g, (text, name, member) => {
      const call = calls.get(name) ?? calls.get(text);
      if (call === undefined || calls.has(text)) return call ?? text;
      return `${call}.${call.endsWith('.ts")') ? `${member}_$` : member}`;
    });
  return `${body}module.exports = {${(exported ?? '').replace(/(\w+): \(\) =>/g, '$1_$:')}};\n`;
}

function wholeOf(path, code) {
  const [, exported] = HEAD.exec(code);
  const from = `require(${JSON.stringify(`./${basename(path)}`)})`;
  return `module.exports = {${exported.replace(/(\w+): \(\) => \w+/g, `$1: ${from}.$1_$`)}};`;
}

/** What the sources use of valibot, which they import whole. */
function valibotNames(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.ts'));
  const uses = files.flatMap((name) => [
    ...readFileSync(join(folder, name), 'utf8').matchAll(/\bv\.([a-z]\w*)/g),
  ]);
  return [...new Set(uses.map(([, name]) => name))];
}
