import { readFile } from 'node:fs/promises';
import { isInsideFolder } from '../inside-folder.ts';

/** One mount, from /proc/PID/mountinfo (proc(5)). */
export type MountEntry = ReturnType<typeof parseMountTable>[number];

/** The mounts that this process sees. @throws an Error of Node if they cannot be read */
export async function readMounts(): Promise<MountEntry[]> {
  return parseMountTable(await readFile('/proc/self/mountinfo', 'utf8'));
}

/** `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`: all mounts, oldest first. */
export function parseMountTable(mountinfo: string) {
  return mountinfo.split('\n').flatMap((line) => {
    const [before = '', after] = line.split(' - ');
    if (after === undefined) return [];
    const [id, parent, device = '', root = '', path = '', options = ''] = before.split(' ');
    const [type = '', source = '', superOptions = ''] = after.split(' ');
    const isReadOnly = [options, superOptions].some((list) => list.split(',').includes('ro'));
    return [
      {
        id: Number(id),
        /** The mount that it stands on. */
        parent: Number(parent),
        /** MAJOR:MINOR; of all subvolumes of a btrfs the same, which is not its block device's. */
        device,
        /** The folder of the file system that is mounted. */
        root: unescape(root),
        path: unescape(path),
        isReadOnly,
        type,
        /** What was mounted, mostly a device node. */
        source: unescape(source),
      },
    ];
  });
}

/** Whether its path leads to it: not if something else was mounted above it since. */
export function isInSight(mount: MountEntry, mounts: readonly MountEntry[]): boolean {
  const isCovered = mounts.some(
    ({ id, parent, path }) => parent === mount.id && id !== mount.id && path === mount.path,
  );
  return !isCovered && !isCutOff(mount, mounts);
}

function isCutOff(mount: MountEntry, mounts: readonly MountEntry[]): boolean {
  return mounts.some((other) => {
    if (other.id === mount.id) return false;
    if (other.parent === mount.parent) return isInsideFolder(mount.path, other.path);
    return other.id === mount.parent && isCutOff(other, mounts);
  });
}

/** Blanks, line breaks and backslashes are written as octal numbers: `\040`. */
function unescape(text: string): string {
  return text.replace(/(?:\\[0-7]{3})+/g, (octal) =>
    Buffer.from(
      octal
        .slice(1)
        .split('\\')
        .map((digits) => Number.parseInt(digits, 8)),
    ).toString('utf8'),
  );
}
