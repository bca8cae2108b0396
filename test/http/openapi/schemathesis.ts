import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startDemo } from '../../demo/demo-parts.ts';
import { REPOSITORY } from '../../source-tree.ts';

/**
 * `npm run test:schema [-- OPTIONS]`: what schemathesis (https://schemathesis.io) finds in a daemon
 * on a device in a folder, by its openapi.json. It has to find nothing. The program is fetched by
 * pip the first time; OPTIONS are its own, such as `-n 100`.
 */
const VERSION = '4.32.5';
const FOLDER = join(REPOSITORY, 'node_modules/.cache', `schemathesis-${VERSION}`);

const program = join(FOLDER, 'bin/schemathesis');
if (!existsSync(program)) {
  await run('python3', ['-m', 'venv', FOLDER]);
  await run(join(FOLDER, 'bin/pip'), ['install', '--quiet', `schemathesis==${VERSION}`]);
}
const folder = await mkdtemp(join(tmpdir(), 'depotd-schema-'));
const demo = await startDemo(join(folder, 'demo'));
try {
  const { token } = (await (await fetch(`${demo.api}/admin/store/token`)).json()) as {
    token: string;
  };
  process.exitCode = await run(program, [
    ...['--config-file', join(import.meta.dirname, 'schemathesis.toml')],
    ...['run', `${demo.api}/openapi.json`, '--header', `X-CSRF-Token: ${token}`],
    ...['--checks', 'all', '--continue-on-failure', '--request-timeout', '300'],
    ...(process.argv.length > 2 ? process.argv.slice(2) : ['--max-examples', '20']),
  ]);
} finally {
  await demo.close();
  await rm(folder, { recursive: true, force: true });
}

/** @returns its exit code */
function run(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    spawn(command, args, { stdio: 'inherit', cwd: tmpdir() })
      .on('error', reject)
      .on('exit', (code) => resolve(code ?? 1));
  });
}
