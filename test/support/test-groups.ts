import { existsSync } from 'node:fs';

import { isOnPath } from '../../packaging/debian-packages.mjs';

/** Tests that need more than Node: what of, and which files. */
export interface TestGroup {
  name: string;
  /** Globs of test files. */
  files: readonly string[];
  /** Commands that must be there; `.ci/packages` says which Debian package has each. */
  commands: readonly string[];
  /** Whether they mount, or run as another user. */
  needsRoot?: boolean;
}

const DEVICE_COMMANDS = ['perl', 'script', 'tar', 'gzip'];

/** Chromium's shell without windows takes 40 % of the processor that the whole of it takes. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
export const BROWSER = BROWSERS.find(isOnPath) ?? 'chromium-headless-shell';

export const TEST_GROUPS: readonly TestGroup[] = [
  {
    name: 'moves of container data with a real engine',
    files: ['test/features/container-data/{containers-at-work,full-target,migrate}*.test.ts'],
    commands: ['dockerd', 'rsync', 'busybox', 'mkfs.ext4', 'mkfs.btrfs', 'mkfs.vfat', 'getfattr'],
    needsRoot: true,
  },
  {
    name: 'power cuts of a virtual machine',
    files: ['test/power/power.test.ts'],
    commands: ['linux.uml', 'mkfs.ext4', ...DEVICE_COMMANDS],
    needsRoot: true,
  },
  {
    name: 'the rules of Debian',
    files: ['test/packaging/lintian.test.ts'],
    commands: ['lintian'],
  },
  {
    name: 'copies by rsync',
    files: ['test/features/container-data/{rsync/*,locations}.test.ts'],
    commands: ['rsync', 'getfattr', 'busybox'],
  },
  {
    name: 'real loop disks',
    files: ['test/features/disks/routes.test.ts'],
    commands: ['mkfs.ext4', 'mkfs.btrfs', 'mkfs.xfs', 'mkfs.vfat', ...DEVICE_COMMANDS],
    needsRoot: true,
  },
  {
    name: 'disks that cannot be written',
    files: [
      'test/jobs/full-disk.test.ts',
      'test/features/uploads/receive.test.ts',
      'test/daemon/read-only-state.test.ts',
    ],
    commands: DEVICE_COMMANDS,
    needsRoot: true,
  },
  {
    name: 'names that another user planted',
    files: [
      'test/planted-names.test.ts',
      'test/package-management/opkg/planted-lock.test.ts',
      'test/features/backup/planted-sets.test.ts',
    ],
    commands: [...DEVICE_COMMANDS, 'wget'],
    needsRoot: true,
  },
  {
    name: 'a crowd in a network of its own',
    files: ['test/http/crowd/*.test.ts'],
    commands: [...DEVICE_COMMANDS, 'unshare', 'busybox', 'nginx'],
    needsRoot: true,
  },
  {
    name: 'init scripts',
    files: ['test/init/*.test.ts'],
    commands: ['busybox', 'systemd-analyze'],
  },
  {
    name: 'shell programs',
    files: ['test/shellcheck.test.ts'],
    commands: ['shellcheck'],
  },
  {
    name: 'web servers before the daemon',
    files: ['test/packaging/{relay,hand-on,page}*.test.ts'],
    commands: ['nginx', 'lighttpd', ...DEVICE_COMMANDS],
  },
  {
    name: 'the page in a real browser',
    files: [
      'test/panel/{awkward-device,chinese*,click-through,embedded-*,embedding,first-screens}.test.ts',
      'test/panel/{described,fleet-card,getting-around,hold,languages,looks,numbers,of-firmware,remove-*}.test.ts',
      'test/panel/{interruptions,login-page,luci-apps,missing-lists,neighbour}.test.ts',
      'test/panel/{no-space,open-app,session-use,shared-stream,undo,upload-endings,ways-to-use}.test.ts',
      'test/packaging/page.test.ts',
    ],
    commands: [BROWSER, ...DEVICE_COMMANDS],
  },
  {
    name: 'a forge behind TLS',
    files: ['test/features/forge/connections.test.ts'],
    commands: ['openssl'],
  },
  {
    name: 'a device in a folder',
    files: [
      'test/cli/{fleet,follow,jobs,login,reads,relay,uploads}*.test.ts',
      'test/{demo,device}/{apk,demo,exec,ipk,processes,sole-daemon}*.test.ts',
      'test/device/{apk,opkg}-contract/*.test.ts',
      'test/features.test.ts',
      'test/features/{app-status,fleet,login,packages,self-upgrade,tasks,uploads}/**/*.test.ts',
      'test/http/{slow-clients,who-may-ask}*.test.ts',
      'test/jobs/{crash,queue}*.test.ts',
      'test/packaging/{install,package}*.test.ts',
      'test/panel/interruptions*.test.ts',
      'test/{faults,fuzz,soak}/**/*.test.ts',
    ],
    commands: [...DEVICE_COMMANDS, 'openssl', 'wget', 'ps'],
  },
];

/**
 * What opkg and apk do, and so what their stand-ins have to: run by `npm run test:opkg` and
 * `test:apk`. Four of the files stay in `npm test` (docs/decisions).
 */
export const CONTRACTS: readonly string[] = [
  'test/device/opkg-contract/!(install|lock).test.ts',
  'test/device/apk-contract/!(add|lock).test.ts',
];

/** A group that cannot run here, and what it misses. */
export interface LeftOut {
  group: TestGroup;
  missing: readonly string[];
}

/** The groups that this machine cannot run. */
export function groupsLeftOut(): LeftOut[] {
  const isRoot = process.getuid?.() === 0 && existsSync('/dev/loop-control');
  return TEST_GROUPS.flatMap((group) => {
    const missing = group.commands.filter((command) => !isOnPath(command));
    if (group.needsRoot === true && !isRoot) missing.push('root with loop devices');
    return missing.length === 0 ? [] : [{ group, missing }];
  });
}
