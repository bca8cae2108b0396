import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseUciFile } from '../../config/uci-file.ts';
import { readMounts } from '../../device/disk/mounts.ts';
import { isAtOrIn, isInsideFolder } from '../../device/inside-folder.ts';
import { readSmallBytes } from '../../device/owner-file.ts';
import type { Paths } from '../../device/paths.ts';
import { DEVICE_PATH } from '../../http/parameter-schemas.ts';
import type { Container } from './engine-view.ts';

/**
 * Which folders of a container are the app's own data. A container may have the owner's pictures,
 * a whole disk or the system mounted, and whoever makes one chooses what. Invariants: a folder is
 * the app's only if
 *  - the app's settings name it, or one that it lies in, as for configuration, cache or data; or it
 *    has the app's name in a folder for such (`Configs/NAME`, as iStore sets apps up);
 *  - no other setting of the device, no other container and no folder of the daemon is in it;
 *  - no link leads there, it is no folder of the system, no mount point, and none lies in it.
 * @param others what is not the app's: paths in it keep a folder from being so
 * @returns those of the container's mounts, without one in another
 */
export async function dataFoldersOf(
  app: string,
  container: Container,
  { paths, others }: { paths: Paths; others: readonly string[] },
): Promise<string[]> {
  const { own, foreign } = await settingsFor(app, paths.uciDir);
  const foreignPaths = [paths.stateDir, paths.logDir, paths.uploadDir, ...others, ...foreign];
  const isOwn = (path: string): boolean =>
    own.some((folder) => isAtOrIn(path, folder)) || isNamedFor(app, path);
  const found: string[] = [];
  for (const { kind, source, isWritable } of container.mounts) {
    if (kind !== 'bind' || !isWritable || found.includes(source) || !isOwn(source)) continue;
    if (foreignPaths.some((path) => isAtOrIn(path, source))) continue;
    if (await isPlainFolder(source)) found.push(source);
  }
  return found.filter((path) => !found.some((other) => isInsideFolder(path, other))).sort();
}

/** Folders of the system, whatever a container or a setting says. */
const SYSTEM = [
  ...['bin', 'boot', 'dev', 'etc', 'lib', 'lib64', 'overlay', 'proc', 'rom', 'run', 'sbin'],
  ...['sys', 'usr', 'var', 'www'],
];

/** Whether a folder may be emptied at all; asked again before it is. */
export async function isPlainFolder(path: string): Promise<boolean> {
  const [, first = '', second] = path.split('/');
  if (!DEVICE_PATH.test(path) || second === undefined || SYSTEM.includes(first)) return false;
  const entry = await lstat(path).catch(() => undefined);
  if (entry?.isDirectory() !== true) return false;
  if ((await realpath(path).catch(() => '')) !== path) return false;
  return !(await readMounts()).some((mount) => isAtOrIn(mount.path, path));
}

const OWN_OPTION = /^(?:config|conf|cache|data)(?:_?(?:path|dir))?$/;
const CONVENTIONAL = /^(?:configs?|caches?|data|appdata|docker)$/i;

function isNamedFor(app: string, path: string): boolean {
  const isItsName = basename(path).toLowerCase() === app.toLowerCase();
  return isItsName && CONVENTIONAL.test(basename(dirname(path)));
}

const MOST_BYTES = 1024 ** 2;

/** Paths in all UCI files: the app's own data folders, and all others, which stay. */
async function settingsFor(app: string, uciDir: string) {
  const own: string[] = [];
  const foreign: string[] = [];
  for (const file of await readdir(uciDir).catch(() => [])) {
    const bytes = await readSmallBytes(join(uciDir, file), MOST_BYTES);
    const { sections } = parseUciFile(bytes?.toString() ?? '');
    for (const { name, value } of sections.flatMap(({ options }) => options)) {
      const path = value.length > 1 ? value.replace(/\/+$/, '') : value;
      if (!DEVICE_PATH.test(path)) continue;
      (file === app && OWN_OPTION.test(name) ? own : foreign).push(path);
    }
  }
  return { own, foreign };
}
