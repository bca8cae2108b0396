import { lstat, open, readFile, realpath, stat, statfs } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isInsideFolder } from '../../device/inside-folder.ts';
import { DepotError, systemCode } from '../../errors.ts';
import { run } from '../../device/exec.ts';
import { readMounts, type MountEntry } from '../../device/disk/mounts.ts';

/** A walk over a large data root on a slow disk. */
const WALK_LIMITS = { timeoutMs: 30 * 60_000, maxBytes: 1024 ** 2 };

/**
 * Longest path of a file that rsync copies, from the folder that it copies, in bytes: a byte below
 * PATH_MAX (limits.h). By steps from folder to folder a program can make longer ones.
 */
export const MOST_PATH_BYTES = 4095;

/** The first longer path: `./` and one byte more. busybox's find says it cannot look at that. */
const FIND_LONG_PATH =
  `cd "$1" && find . -xdev -path "$(printf '%${MOST_PATH_BYTES + 3}s' | tr ' ' '?')*" 2>&1 | ` +
  `grep -a -e '^\\./' -e 'name too long$' | head -n 1`;

/** What a path leads to. Of a path that is not there, its nearest folder that is. */
export interface Location {
  path: string;
  /** The path without symbolic links, as far as it is there. */
  real: string;
  kind: 'folder' | 'file' | 'nothing';
  mount: MountEntry;
  /** One place for every way that leads to it: bind mounts, links, subvolumes. */
  location: { device: string; path: string };
  freeBytes: number;
  /** Free inodes; undefined if the file system makes them as needed. */
  freeInodes: number | undefined;
  /** What all files there take; undefined if that says nothing about a copy of them. */
  used: { bytes: number; inodes: number } | undefined;
}

/** Too long for a path, from the folder on (MOST_PATH_BYTES). */
export interface LongPath {
  folder: string;
  /** The first bytes of the long path, below that folder. */
  start: string;
}

export type Locations = ReturnType<typeof createLocations>;

export function createLocations(environment: Record<string, string>) {
  /** Runs a fixed shell text on one folder. */
  const onFolder = async (text: string, folder: string): Promise<string> => {
    const { exitCode, stdout, stderr } = await run(
      { argv: ['/bin/sh', '-c', text, 'sh', folder], environment },
      WALK_LIMITS,
    );
    if (exitCode === undefined) {
      throw new DepotError('internal', `cannot walk ${folder}: ${stderr.trim()}`);
    }
    return stdout;
  };
  return {
    inspect,
    /** The mounts that hold `/` and `/overlay`. */
    system: async (): Promise<MountEntry[]> => {
      const mounts = await readMounts();
      return [
        await mountOf('/', mounts),
        mounts.findLast(({ path }) => path === '/overlay'),
      ].filter((mount) => mount !== undefined);
    },
    /** What is mounted below a folder, itself left out. */
    mountsBelow: async (folder: string): Promise<MountEntry[]> =>
      (await readMounts()).filter(({ path }) => isInsideFolder(path, folder)),
    /** btrfs subvolumes below a folder on one file system. */
    subvolumesBelow: async (folder: string): Promise<string[]> =>
      (await onFolder('find "$1" -xdev -type d -inum 256', folder))
        .split('\n')
        .filter((path) => path !== '' && path !== folder),
    /** What the files below a folder take on its file system. @throws DepotError internal */
    usage: async (folder: string): Promise<{ bytes: number; inodes: number }> => {
      // Files that go while du looks make it fail; what it counted stands. Either of the two waits
      // for the disk: together they take half the time.
      const output = await onFolder(
        'find "$1" -xdev 2>/dev/null | wc -l & du -skx -- "$1" 2>/dev/null; wait',
        folder,
      );
      const [, kibibytes] = /^(\d+)\t/m.exec(output) ?? [];
      const [, inodes] = /^ *(\d+)$/m.exec(output) ?? [];
      if (kibibytes === undefined || inodes === undefined) {
        const message = `cannot tell how much ${folder} holds: ${output.slice(0, 200)}`;
        throw new DepotError('internal', message);
      }
      return { bytes: Number(kibibytes) * 1024, inodes: Number(inodes) };
    },
    /** A path below a folder that is too long to be copied, if there is one. */
    longPath: async (folder: string): Promise<LongPath | undefined> => {
      const found = await onFolder(FIND_LONG_PATH, folder);
      const start = /\.\/([^\n]{1,100})/.exec(found)?.[1];
      return start === undefined ? undefined : { folder, start };
    },
  };
}

/** @throws DepotError bad_request if the path leads nowhere: through a circle of links, say */
async function inspect(path: string): Promise<Location> {
  const { nearest, rest } = await nearestOf(path);
  const [real, entry, room, mount] = await Promise.all([
    realpath(nearest),
    stat(nearest),
    statfs(nearest),
    mountOf(nearest, await readMounts()),
  ]);
  const inside = join(mount.root, relative(mount.path, real), rest);
  const isThere = rest === '';
  const foundKind = entry.isDirectory() ? 'folder' : 'file';
  return {
    path,
    real: join(real, rest),
    kind: isThere || foundKind === 'file' ? foundKind : 'nothing',
    mount,
    location: { device: mount.device, path: inside },
    freeBytes: room.bavail * room.bsize,
    freeInodes: room.files > 0 ? room.ffree : undefined,
    used: KEEPS_ITS_SIZE.includes(mount.type)
      ? { bytes: (room.blocks - room.bfree) * room.bsize, inodes: room.files - room.ffree }
      : undefined,
  };
}

/** File systems that do not compress: a copy of all they hold takes no more than they do. */
const KEEPS_ITS_SIZE = ['ext2', 'ext3', 'ext4', 'xfs'];

async function nearestOf(path: string): Promise<{ nearest: string; rest: string }> {
  let nearest = path;
  for (;;) {
    try {
      await stat(nearest);
      return { nearest, rest: relative(nearest, path) };
    } catch (error) {
      const code = systemCode(error) ?? '';
      const isLink = await lstat(nearest).then(
        (entry) => entry.isSymbolicLink(),
        () => false,
      );
      if (isLink || !['ENOENT', 'ENOTDIR'].includes(code)) {
        throw new DepotError(
          'bad_request',
          `${nearest} ${isLink ? 'is a link that leads nowhere' : `cannot be looked at: ${code}`}`,
          { cause: error },
        );
      }
      nearest = dirname(nearest);
    }
  }
}

/** The kernel names an open file's mount (`mnt_id` of /proc/PID/fdinfo, proc(5)). */
async function mountOf(path: string, mounts: readonly MountEntry[]): Promise<MountEntry> {
  const entry = await stat(path);
  await using handle = await open(entry.isDirectory() ? path : dirname(path), 'r');
  const info = await readFile(`/proc/self/fdinfo/${handle.fd}`, 'latin1');
  const id = Number(/^mnt_id:\s*(\d+)$/m.exec(info)?.[1]);
  const mount = mounts.find((candidate) => candidate.id === id);
  if (mount !== undefined) return mount;
  throw new DepotError('internal', `cannot tell which mount holds ${path}`);
}
