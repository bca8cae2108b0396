import { existsSync, readFileSync } from 'node:fs';

/** Where Debian keeps what only root runs; a user's PATH may lack it. */
const SYSTEM_FOLDERS = '/usr/local/sbin:/usr/sbin:/sbin';

/**
 * The Debian packages whose command is not on this machine, from `.ci/packages`, the one place that
 * lists them. @param purpose `demo`, `test` or `build`
 */
export function missingPackages(purpose) {
  return packagesFor(purpose).filter(({ command }) => !isOnPath(command));
}

function packagesFor(purpose) {
  const text = readFileSync(new URL('../.ci/packages', import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const entries = lines.map((line) => line.split(/\s+/));
  return entries
    .map(([name, command, whose]) => ({ name, command, whose }))
    .filter(({ whose }) => whose === 'all' || whose === purpose);
}

export function isOnPath(command) {
  const folders = `${process.env.PATH}:${SYSTEM_FOLDERS}`.split(':');
  return folders.some((folder) => existsSync(`${folder}/${command}`));
}
