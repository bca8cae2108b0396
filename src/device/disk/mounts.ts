/** One mount of a device, from /proc/PID/mountinfo (proc(5)). */
export interface Mount {
  /** MAJOR:MINOR of the mounted file system; btrfs has one of its own there, not its device's. */
  device: string;
  /** What was mounted, mostly a device node. */
  source: string;
  path: string;
  type: string;
}

/** The mounts of block devices, oldest first. */
export function parseMounts(mountinfo: string): Mount[] {
  return parseMountTable(mountinfo).flatMap(({ device, source, path, type }) =>
    source.startsWith('/dev/') ? [{ device, source, path, type }] : [],
  );
}

/** `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`: all mounts, oldest first. */
export function parseMountTable(mountinfo: string): MountEntry[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [before = '', after] = line.split(' - ');
    if (after === undefined) return [];
    const [id, , device = '', root = '', path = '', options = ''] = before.split(' ');
    const [type = '', source = '', superOptions = ''] = after.split(' ');
    const isReadOnly = [options, superOptions].some((list) => list.split(',').includes('ro'));
    return [
      {
        id: Number(id),
        device,
        root: unescape(root),
        path: unescape(path),
        isReadOnly,
        type,
        source: unescape(source),
      },
    ];
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

/** One mount, from /proc/self/mountinfo (proc(5)). */
export interface MountEntry {
  id: number;
  /** MAJOR:MINOR of the file system; all subvolumes of a btrfs have the same. */
  device: string;
  /** The folder of the file system that is mounted. */
  root: string;
  path: string;
  isReadOnly: boolean;
  type: string;
  source: string;
}
