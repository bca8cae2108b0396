/**
 * One block device, as the kernel and its own first blocks tell it. Texts are empty if nothing
 * is known.
 */
export interface BlockDevice {
  /** Kernel name: `sda1`, `nvme0n1p2`, `dm-0`. */
  name: string;
  /** Device node: `/dev/sda1`, `/dev/mapper/vg-data`. */
  path: string;
  sizeBytes: number;
  /** What it holds: `ext4`, `swap`, `linux_raid_member` … */
  type: string;
  /** Version of that format. */
  version: string;
  label: string;
  uuid: string;
  /** Where it is mounted, the oldest mount first. */
  mounts: string[];
}

export interface BlockDeviceHost {
  /**
   * A text that changes when a device comes, goes, changes its size or medium, or is mounted or
   * unmounted.
   */
  fingerprint: () => Promise<string>;
  /** @throws DepotError internal if the system does not tell */
  list: () => Promise<BlockDevice[]>;
  /**
   * Calls back once, when somebody writes to one of these device nodes (mkfs, a label); returns how
   * to end it.
   */
  onceWritten: (paths: readonly string[], onWrite: () => void) => () => void;
}
