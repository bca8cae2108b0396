// `npm run setup`: installs the npm packages of the lock file if they are missing or of another
// version, and on Debian, as root, the Debian packages of `.ci/packages`. `npm test` and
// `npm run demo` call it, so that both work on a fresh clone.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { missingPackages } from './debian-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** `demo` and `build` need less than the tests do. */
const purpose = process.argv[2] ?? 'test';

checkNode();
installModules();
installPackages();

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`cannot run on Node ${process.versions.node}: 20.19 or newer is needed`);
}

function installModules() {
  const installed = `${root}node_modules/.package-lock.json`;
  const lock = `${root}package-lock.json`;
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.error('depotd: installing the npm packages of the lock file …');
  // `npm run --silent` hands its silence on, and what failed would not be said.
  const status = run(['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error'], 'ignore');
  if (status !== 0) fail('cannot install the npm packages: `npm ci` says why above');
}

function installPackages() {
  const names = missingPackages(purpose).map(({ name }) => name);
  if (names.length === 0) return;
  const mayInstall = existsSync('/etc/debian_version') && process.getuid() === 0;
  if (mayInstall) install(names);
  const missing = missingPackages(purpose).map(({ name }) => name);
  if (missing.length === 0) return;
  const advice = `on Debian: apt-get install ${missing.join(' ')}`;
  if (purpose === 'demo' || mayInstall) {
    fail(`cannot go on without ${missing.join(', ')}; ${advice}`);
  }
  console.error(`depotd: some tests are left out without ${missing.join(', ')}; ${advice}`);
}

function install(names) {
  console.error(`depotd: installing the Debian packages ${names.join(' ')} …`);
  run(['apt-get', 'update', '-q'], 'ignore');
  run(['apt-get', 'install', '-q', '-y', '--no-install-recommends', ...names], 'ignore');
}

function run([program, ...argv], stdout) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(program, argv, { cwd: root, env, stdio: ['ignore', stdout, 'inherit'] }).status;
}

function fail(message) {
  console.error(`depotd: ${message}`);
  process.exit(1);
}
