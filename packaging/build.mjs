// `npm run build`: one bundled file a program, which runs with no node_modules beside it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = new URL('..', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

// CommonJS packages inside an ES module bundle still call require() for Node's own modules.
const requireForBundled = "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** A `.client.js` file runs in the browser: to the daemon it is text, bundled with the modules that it imports. */
const browserScripts = {
  name: 'browser-scripts',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.client\.js$/ }, async ({ path }) => {
      const { outputFiles } = await build({ entryPoints: [path], bundle: true, format: 'esm', target: 'es2022', minify: true, write: false });
      return { contents: outputFiles[0].text.trim(), loader: 'text' };
    });
  },
};

const programs = [
  { entry: 'src/main.ts', outfile: 'dist/depotd.mjs' },
  { entry: 'src/cli/depotctl.ts', outfile: 'dist/depotctl.mjs' },
];

for (const { entry, outfile } of programs) {
  await build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    minify: true,
    legalComments: 'none',
    loader: { '.html': 'text', '.css': 'text', '.svg': 'text' },
    define: { 'process.env.DEPOTD_VERSION': JSON.stringify(version) },
    plugins: [browserScripts],
    banner: { js: `#!/usr/bin/env node\n${requireForBundled}` },
    logLevel: 'warning',
  });
}
