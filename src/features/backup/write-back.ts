import { lstat, readFile, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { replaceFile } from '../../device/durable-file.ts';
import { piecesOf } from '../../device/owner-file.ts';
import type { Paths } from '../../device/paths.ts';
import { openTrustedFolder } from '../../device/private-folder.ts';
import { reasonOf } from '../../errors.ts';
import { releaseOf, stateFolder } from './collect-set.ts';
import { filesOfManager, MANAGER_FILES } from './manager-files.ts';
import type { KeptFile, Manifest } from './manifest.ts';
import { measure } from './write-set.ts';

/** What stays as it is on a box that is set up like another one. */
const OF_ONE_BOX =
  /^\/etc\/(?:config\/network$|dropbear\/|ssh\/|depotd\/|uhttpd\.(?:key|crt)$)|\/\.ssh\//;

/** A file of a set that goes to its place, and its number in the set. */
export interface FileToWrite extends KeptFile {
  index: number;
}

/** Which files of a set are for this device, and are not as they are. */
export async function filesToWrite(
  paths: Paths,
  set: Manifest,
  { isNew, manager }: { isNew: boolean; manager: string },
): Promise<FileToWrite[]> {
  const isRelease = set.release !== '' && set.release === (await releaseOf(paths));
  const own = filesOfManager(manager);
  const others = MANAGER_FILES.filter((files) => files !== own);
  const isLeft = (path: string): boolean =>
    others.some(({ settings }) => settings.test(path)) ||
    (isNew && (OF_ONE_BOX.test(path) || path.startsWith(`${stateFolder(paths)}/`))) ||
    (!isRelease && path === own.firmwareFeeds);
  const found: FileToWrite[] = [];
  for (const [index, file] of set.files.entries()) {
    if (isLeft(file.path)) continue;
    const there = await measure(paths.onDevice(file.path), file.bytes);
    const isSame = there?.sha256 === file.sha256 && there.mode === file.mode;
    // A key of that name may have come with this firmware.
    const isKeyThere = there !== undefined && file.path.startsWith(own.keys);
    if (!isSame && !isKeyThere) found.push({ ...file, index });
  }
  return found;
}

/**
 * Puts a file in its place: whole or not at all, and never through a link. Safe to do again.
 * @param source a file that nobody else can write
 * @returns why it was left out, if it was
 */
export async function writeBack(paths: Paths, { path, mode }: KeptFile, source: string) {
  try {
    const folder = await openTrustedFolder(paths.onDevice(dirname(path)), 0o755);
    const plain = join(await realpath(paths.root), dirname(path));
    if (folder !== plain) return 'its folder lies behind a link';
    const target = join(folder, basename(path));
    const there = await lstat(target).catch(() => undefined);
    if (there !== undefined && !there.isFile() && !there.isSymbolicLink()) {
      return 'no file is there';
    }
    const { uid, gid } = there?.isFile() === true ? there : ownIds();
    await replaceFile(target, piecesOf(source), { mode, uid, gid });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function ownIds(): { uid: number; gid: number } {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

const HOST_NAME = /^([ \t]*option[ \t]+hostname[ \t]+).*$/m;
export const SYSTEM = '/etc/config/system';

/** The configuration of the system as another box has it, with this one's name. */
export async function keepHostName({ onDevice }: Paths, source: string): Promise<void> {
  const [text, ours] = await Promise.all([
    readFile(source, 'latin1'),
    readFile(onDevice(SYSTEM), 'latin1').catch(() => ''),
  ]);
  const line = HOST_NAME.exec(ours)?.[0];
  const next = text.replace(HOST_NAME, () => line ?? "\toption hostname 'OpenWrt'");
  await writeFile(source, next, 'latin1');
}
