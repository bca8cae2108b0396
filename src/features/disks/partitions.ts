/** One line of /proc/partitions (proc(5)): every block device with a medium in it. */
export interface Partition {
  /** MAJOR:MINOR. */
  device: string;
  name: string;
  sizeBytes: number;
}

/** Sizes stand there in KiB. */
export function parsePartitions(text: string): Partition[] {
  return Array.from(
    text.matchAll(/^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)$/gm),
    ([, major = '', minor = '', kib = '', name = '']) => ({
      device: `${major}:${minor}`,
      name: name.replaceAll('!', '/'),
      sizeBytes: Number(kib) * 1024,
    }),
  );
}
