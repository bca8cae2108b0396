/** One mount of a device, from /proc/PID/mountinfo (proc(5)). */
export interface Mount {
  /** MAJOR:MINOR of the mounted file system; btrfs has one of its own there, not its device's. */
  device: string;
  /** What was mounted, mostly a device node. */
  source: string;
  path: string;
  type: string;
}

/** `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`: the mounts of block devices, oldest first. */
export function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , device = '', , path = ''] = before.split(' ');
    const [type = '', source = ''] = after.split(' ');
    return source.startsWith('/dev/') ? [{ device, source: unescape(source), path: unescape(path), type }] : [];
  });
}

/** Blanks, line breaks and backslashes are written as octal numbers: `\040`. */
function unescape(text: string): string {
  return text.replace(/(?:\\[0-7]{3})+/g, (octal) => Buffer.from(octal.slice(1).split('\\').map((digits) => Number.parseInt(digits, 8))).toString('utf8'));
}
