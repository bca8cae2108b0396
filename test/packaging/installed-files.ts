/** Packages that depotd needs, whatever the package manager calls its libraries. */
export const TOOLS = [
  'rsync',
  'script-utils',
  'lsblk',
  'blkid',
  'ucode',
  'ucode-mod-fs',
  'ucode-mod-socket',
  'ucode-mod-uloop',
];

/** The owner's, relative to the root: it survives the package. */
export const CONFIGURATION = 'etc/config/depotd';

/**
 * What a daemon that has run leaves, and its relay; relative to the root.
 * @param ending of the device's package files
 */
export function stateFiles(ending: 'ipk' | 'apk'): string[] {
  return [
    'etc/depotd/jobs.jsonl',
    'etc/depotd/password',
    'tmp/log/depotd/1.log',
    `tmp/depotd/upload.${ending}`,
    'tmp/run/depotd.sock.stream1',
    'usr/lib/depotd/depotd.cache',
  ];
}
