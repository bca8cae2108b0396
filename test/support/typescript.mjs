// `node --import …/typescript.mjs FILE.ts` runs a source file as it is: what the build turns into
// texts is text here, too.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import 'tsx';

if (isMainThread) register(import.meta.url);

export async function load(url, context, nextLoad) {
  if (!/\.(?:sh|script\.cjs)$/.test(url)) return nextLoad(url, context);
  const text = await readFile(new URL(url), 'utf8');
  return {
    format: 'module',
    source: `export default ${JSON.stringify(text)};`,
    shortCircuit: true,
  };
}
