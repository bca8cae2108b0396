// `npm run setup`: installs the npm packages of the lock file if they are missing or of another
// version, and on Debian, as root, the Debian packages of `.ci/packages`. `npm test` and
// `npm run demo` call it, so that both work on a fresh clone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { missingPackages } from './debian-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** `demo` and `build` need less than the tests do. */
const purpose = process.argv[2] ?? 'test';

// Both wait for the network. One that fails leaves the other to its end.
if (isOnNewNode()) await Promise.all([installModules(), installPackages()]);

function isOnNewNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const isNew = major > 20 || (major === 20 && minor >= 19);
  if (!isNew) fail(`cannot run on Node ${process.versions.node}: 20.19 or newer is needed`);
  return isNew;
}

async function installModules() {
  const installed = `${root}node_modules/.package-lock.json`;
  const lock = `${root}package-lock.json`;
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.error('depotd: installing the npm packages of the lock file …');
  // `npm run --silent` hands its silence on, and what failed would not be said.
  const status = await run(['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error'], 'ignore');
  if (status !== 0) fail('cannot install the npm packages: `npm ci` says why above');
}

async function installPackages() {
  const names = missingPackages(purpose).map(({ name }) => name);
  if (names.length === 0) return;
  const mayInstall = existsSync('/etc/debian_version') && process.getuid() === 0;
  if (mayInstall) await install(names);
  const missing = missingPackages(purpose).map(({ name }) => name);
  if (missing.length === 0) return;
  const advice = `on Debian: apt-get install ${missing.join(' ')}`;
  if (purpose === 'demo' || mayInstall) {
    fail(`cannot go on without ${missing.join(', ')}; ${advice}`);
  } else {
    console.error(`depotd: some tests are left out without ${missing.join(', ')}; ${advice}`);
  }
}

async function install(names) {
  console.error(`depotd: installing the Debian packages ${names.join(' ')} …`);
  await run(['apt-get', 'update', '-q'], 'ignore');
  await run(['apt-get', 'install', '-q', '-y', '--no-install-recommends', ...names], 'ignore');
}

async function run([program, ...argv], stdout) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawn(program, argv, { cwd: root, env, stdio: ['ignore', stdout, 'inherit'] });
  const [status] = await once(child, 'close').catch(() => []);
  return status;
}

function fail(message) {
  console.error(`depotd: ${message}`);
  process.exitCode = 1;
}
