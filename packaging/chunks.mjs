// The daemon in chunks, as esbuild splits it: what a start runs is one of them, and what the sources
// import later lies packed behind it, until it is first asked for.
import { build, transform } from 'esbuild';
import { packed } from './texts-behind.mjs';

/** Imported later, but by each start: V8's code of them is kept, too. */
const AT_EACH_START = /node_modules\/(?:@hono\/node-server|chokidar)\//;

/**
 * @param result of a build in chunks, all in one folder, `main.js` first
 * @param options of it, for the chunks
 * @returns a function of `exports`, `require` for Node's modules, and `textAt`
 */
export async function joinChunks({ outputFiles, metafile }, { options, behind }) {
  const chunks = new Map(outputFiles.map(({ path, text }) => [nameOf(path), { text }]));
  for (const [path, { imports, exports, entryPoint = '' }] of Object.entries(metafile.outputs)) {
    const needed = imports.filter((each) => each.kind === 'import-statement' && !each.external);
    Object.assign(chunks.get(nameOf(path)), {
      exports,
      isPacked: !AT_EACH_START.test(entryPoint),
      needs: needed.map((each) => nameOf(each.path)),
    });
  }
  const atStart = new Set(['./main.js']);
  for (const name of atStart) for (const needed of chunks.get(name).needs) atStart.add(needed);

  const { target, platform, minify, legalComments } = options;
  const form = { format: 'cjs', supported: { 'dynamic-import': false } };
  const later = [...chunks].filter(([name]) => !atStart.has(name));
  const functions = [];
  for (const [name, { text, isPacked }] of later) {
    const { code } = await transform(text, { target, platform, minify, legalComments, ...form });
    assertNarrow(name, code);
    const key = JSON.stringify(name);
    functions.push(
      isPacked
        ? `get ${key}(){return compiled("${name}","${behind.keep(packed(behind.laidBehind(code)))}")}`
        : `${key}(module,exports,require,textAt){${code}}`,
    );
  }
  const start = await build({
    ...options,
    ...form,
    stdin: { contents: startOf(atStart, chunks), resolveDir: options.absWorkingDir },
    plugins: [fromChunks(chunks, atStart)],
    write: false,
  });
  return behind.laidBehind(`(function(exports,ofNode,textAt){
const later={${functions.join()}},loaded={},nodes={};
const require=name=>name.startsWith("./")?(loaded[name]??load(name)).exports:nodes[name]??=ofNode(name);
const load=name=>{
const ofStart=module.exports.chunk(name),chunk=loaded[name]={exports:ofStart??{}};
if(!ofStart)later[name](chunk,chunk.exports,require,textAt);
return chunk};
const compiled=(name,packed)=>{
const text=ofNode("node:zlib").gunzipSync(Buffer.from(packed,"base64")).toString("latin1");
return ofNode("node:vm").compileFunction(text,["module","exports","require","textAt"],{filename:name})};
const module={exports};
${start.outputFiles[0].text}
exports.main=module.exports.main})`);
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

/**
 * V8 keeps a source whose characters are all ASCII with one byte each, and any other with two:
 * a single Chinese character in a regular expression, which esbuild leaves as it is, would cost the
 * daemon a megabyte at rest.
 */
export function assertNarrow(file, text) {
  const at = text.search(/[^\x00-\x7f]/);
  if (at < 0) return;
  const around = text.slice(Math.max(0, at - 40), at + 20);
  throw new Error(`cannot keep ${file} in one byte a character: write \\u…: …${around}…`);
}
