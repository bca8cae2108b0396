import type { Main } from './main.ts';
import { createCodeCache } from './runtime/code-cache.ts';

/** Of `depotd.cjs`, by the build. */
declare const BUNDLE_HASH: string;

/**
 * What is started: it compiles the daemon, `depotd.cjs` beside it, with the code that V8 kept of an
 * earlier start, so that a megabyte of source need not be parsed again. The build makes two of it:
 * `start.cjs`, which a device starts, and `depotd.mjs`, for which Node first loads what ES modules
 * need, an eighth of a start. docs/decisions/0013-code-cache.md.
 *
 * Node's modules are asked for by name, not imported: an import of one reads each of its exports,
 * and thereby loads what only some of them need.
 */
const { Script } = process.getBuiltinModule('node:vm');
const { readFileSync } = process.getBuiltinModule('node:fs');

// V8 takes no kept code, Node's own included, while any flag differs from what it was made with.
// The heap has its bound by now, and keeps it.
if (process.execArgv.some((flag) => flag.startsWith('--max-old-space-size'))) {
  process.getBuiltinModule('node:v8').setFlagsFromString('--max-old-space-size=0');
}

const file = `${import.meta.dirname}/depotd.cjs`;
const cache = createCodeCache(file, BUNDLE_HASH);
const script = new Script(readFileSync(file, 'latin1'), {
  filename: file,
  cachedData: cache.read(),
});
const exported: { main?: Main } = {};
const run = script.runInThisContext() as (
  exported: object,
  require: (name: string) => unknown,
) => void;
run(exported, (name) => process.getBuiltinModule(name));
void exported.main?.(() => {
  if (script.cachedDataRejected !== false) cache.write(script.createCachedData());
});
