// `npm run setup`: installs the npm packages of the lock file where they are missing or of another
// version, and names the Debian packages that are missing. Called by `npm test` and `npm run demo`,
// so that both work on a fresh clone.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** `demo` needs less than the tests do. */
const purpose = process.argv[2] ?? 'test';

checkNode();
installModules();
checkCommands();

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`cannot run on Node ${process.versions.node}: 20.19 or newer is needed`);
}

function installModules() {
  const installed = `${root}node_modules/.package-lock.json`;
  if (
    existsSync(installed) &&
    statSync(installed).mtimeMs >= statSync(`${root}package-lock.json`).mtimeMs
  ) {
    return;
  }
  console.error('depotd: installing the npm packages of the lock file …');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) fail('cannot install the npm packages: `npm ci` says why above');
}

function checkCommands() {
  const missing = debianPackages()
    .filter(({ command }) => !isOnPath(command))
    .map(({ name }) => name);
  if (missing.length > 0) {
    fail(
      `cannot go on without ${missing.join(', ')}; on Debian: apt-get install ${missing.join(' ')}`,
    );
  }
}

/** What .ci/packages, the one place that lists them, has for this purpose. */
function debianPackages() {
  const lines = readFileSync(`${root}.ci/packages`, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const entries = lines
    .map((line) => line.split(/\s+/))
    .map(([name, command, whose]) => ({ name, command, whose }));
  return entries.filter(({ whose }) => whose === 'all' || whose === purpose);
}

function isOnPath(command) {
  const folders = `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin`.split(':');
  return folders.some((folder) => existsSync(`${folder}/${command}`));
}

function fail(message) {
  console.error(`depotd: ${message}`);
  process.exit(1);
}
