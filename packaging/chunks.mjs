// The daemon in chunks, as esbuild splits it: what a start runs is one of them, and what the sources
// import later is read by V8, run and kept in memory when it is first asked for.
import { build, transform } from 'esbuild';

/**
 * @param result of a build in chunks, all in one folder, `main.js` first
 * @param options of it, for the chunks
 * @returns a function of `exports`, `require` for Node's modules, and `textAt`
 */
export async function joinChunks({ outputFiles, metafile }, options) {
  const chunks = new Map(outputFiles.map(({ path, text }) => [nameOf(path), { text }]));
  for (const [path, { imports, exports }] of Object.entries(metafile.outputs)) {
    const needed = imports.filter((each) => each.kind === 'import-statement' && !each.external);
    Object.assign(chunks.get(nameOf(path)), {
      exports,
      needs: needed.map((each) => nameOf(each.path)),
    });
  }
  const atStart = new Set(['./main.js']);
  for (const name of atStart) for (const needed of chunks.get(name).needs) atStart.add(needed);

  const { target, platform, minify, legalComments } = options;
  const form = { format: 'cjs', supported: { 'dynamic-import': false } };
  const later = [...chunks].filter(([name]) => !atStart.has(name));
  const functions = later.map(async ([name, { text }]) => {
    const { code } = await transform(text, { target, platform, minify, legalComments, ...form });
    return `${JSON.stringify(name)}(module,exports,require){${code}}`;
  });
  const start = await build({
    ...options,
    ...form,
    stdin: { contents: startOf(atStart, chunks), resolveDir: options.absWorkingDir },
    plugins: [fromChunks(chunks, atStart)],
    write: false,
  });
  return `(function(exports,ofNode,textAt){
const later={${(await Promise.all(functions)).join()}},loaded={};
const require=name=>name.startsWith("./")?(loaded[name]??load(name)).exports:ofNode(name);
const load=name=>{
const ofStart=module.exports.chunk(name),chunk=loaded[name]={exports:ofStart??{}};
if(!ofStart)later[name](chunk,chunk.exports,require);
return chunk};
const module={exports};
${start.outputFiles[0].text}
exports.main=module.exports.main})`;
}

function nameOf(path) {
  return path.replace(/^.*\//, './');
}

/** What is in the chunks of a start, for the others: made when one of them asks. */
function startOf(atStart, chunks) {
  const imports = [];
  const cases = [...atStart].map((name, at) => {
    const names = chunks.get(name).exports;
    imports.push(
      `import { ${names.map((each) => `${each} as _${at}${each}`).join(', ')} } from '${name}';`,
    );
    const getters = names.map((each) => `get ${each}() { return _${at}${each} }`);
    return `case '${name}': return { __esModule: true, ${getters.join(', ')} };`;
  });
  return `${imports.join('\n')}
export { main } from './main.js';
export function chunk(name) { switch (name) { ${cases.join('\n')} } }`;
}

const fromChunks = (chunks, atStart) => ({
  name: 'from-chunks',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^\.\/[^/]+\.js$/ }, ({ path, kind }) =>
      atStart.has(path) && kind === 'import-statement'
        ? { path, namespace: 'chunk' }
        : { path, external: true },
    );
    onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path }) => ({
      contents: chunks.get(path).text,
    }));
  },
});
