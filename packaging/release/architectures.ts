/** A feed: of a release of OpenWrt, for an architecture that a Node is built for. */
export interface FeedTarget {
  /** As a device's DISTRIB_RELEASE begins. */
  release: string;
  manager: 'opkg' | 'apk';
  /** A device's DISTRIB_ARCH. */
  architecture: string;
}

const COMMON = [
  'aarch64_cortex-a53',
  'aarch64_cortex-a72',
  'aarch64_cortex-a76',
  'aarch64_generic',
  'arm_arm1176jzf-s_vfp',
  'arm_cortex-a15_neon-vfpv4',
  'arm_cortex-a5_vfpv4',
  'arm_cortex-a7_neon-vfpv4',
  'arm_cortex-a7_vfpv4',
  'arm_cortex-a8_vfpv3',
  'arm_cortex-a9_neon',
  'arm_cortex-a9_vfpv3-d16',
  'i386_pentium4',
  'x86_64',
];

export const FEEDS: readonly FeedTarget[] = [
  ...[...COMMON, 'riscv64_riscv64'].map((architecture): FeedTarget => ({
    release: '24.10',
    manager: 'opkg',
    architecture,
  })),
  ...[...COMMON, 'riscv64_generic'].map((architecture): FeedTarget => ({
    release: '25.12',
    manager: 'apk',
    architecture,
  })),
];

/** Whether a program for a processor runs on an architecture. */
export function runsOn(machine: string, architecture: string): boolean {
  return architecture === machine || architecture.startsWith(`${machine}_`);
}
