import type { Main } from './main.ts';
import { createCodeCache } from './runtime/code-cache.ts';

/** What `depotd.cjs` begins with: a hash of it, and how much of it is code; texts are behind. */
const HEAD_BYTES = 32;

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
const { openSync, readSync } = process.getBuiltinModule('node:fs');

// V8 takes no kept code, Node's own included, while any flag differs from what it was made with.
// The heap has its bound by now, and keeps it.
if (process.execArgv.some((flag) => flag.startsWith('--max-old-space-size'))) {
  process.getBuiltinModule('node:v8').setFlagsFromString('--max-old-space-size=0');
}

const file = `${import.meta.dirname}/depotd.cjs`;
// The bundle stays open: a running daemon's texts are in it after an upgrade replaced the file.
const descriptor = openSync(file, 'r');
const read = (position: number, length: number): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(length);
  readSync(descriptor, bytes, 0, length, position);
  return bytes;
};
const [, hash = '', length] = read(0, HEAD_BYTES).toString('latin1').split(' ');
const codeBytes = Number(length);
const cache = createCodeCache(file, hash);
const script = new Script(read(0, codeBytes).toString('latin1'), {
  filename: file,
  cachedData: cache.read(),
});
const exported: { main?: Main } = {};
const run = script.runInThisContext() as (
  exported: object,
  require: (name: string) => unknown,
  textAt: (position: number, length: number) => string,
) => void;
run(
  exported,
  (name) => process.getBuiltinModule(name),
  (position, bytes) => read(codeBytes + position, bytes).toString('base64'),
);
const isKept = script.cachedDataRejected === false;
void exported.main?.(() => {
  if (!isKept) cache.write(script.createCachedData());
}, isKept);
