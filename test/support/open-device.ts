import { chmod, lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished } from 'vitest';

import { createDevice, type Device } from '../device/device.ts';
import { ANOTHER_USER, asAnother } from './another-user.ts';

/**
 * Every fixed name that root writes below a folder for everybody, planted by another user in every
 * way, while nothing of the kernel's own protection is in force.
 */
export const PLANTS: Record<string, (name: string) => string> = {
  'a link to a folder': (name) => `ln -s "$OUTSIDE" ${name}`,
  'a link to a file': (name) => `ln -s "$OUTSIDE/file" ${name}`,
  'a link to nothing': (name) => `ln -s "$OUTSIDE/new" ${name}`,
  'a fifo': (name) => `mkfifo ${name}`,
  'a file': (name) => `echo planted >${name}`,
  'a folder full of links': (name) => `mkdir -m 0777 ${name}; cd ${name}
    for entry in ${ENTRIES.join(' ')}; do ln -s "$OUTSIDE/file" $entry; done
    for entry in exits self-upgrade; do ln -s "$OUTSIDE" $entry; done
    cd - >/dev/null`,
};
/** Names that depotd or opkg might write in a folder of somebody else. */
const ENTRIES = [
  ...['.kept-at', '.verdict', '.verdict.new', 'lab', 'lab.sig', '.lab.new', '.lab.sig.new'],
  ...['key', 'daemon.json', 'jobs.jsonl', 'jobs.jsonl.new', 'password', 'opkg-status.before'],
  ...['opkg-status.before.gz', 'opkg-status.before.2.gz'],
];

export interface OpenDevice {
  device: Device;
  /** Root's own, where nothing is to be written. */
  outside: string;
  plant: (name: string, how: (name: string) => string) => Promise<void>;
}

/**
 * A device on which every user reaches what OpenWrt lets every user reach.
 * @param atEnd has what closes it; default: with the test
 */
export async function createOpenDevice(
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<OpenDevice> {
  const directory = await mkdtemp(join(tmpdir(), 'depotd-planted-'));
  const device = await createDevice({ directory });
  atEnd(async () => {
    await device.close();
  });
  await device.opkg('update');
  await chmod(directory, 0o755);
  for (const folder of ['tmp', 'tmp/lock']) await chmod(join(device.root, folder), 0o1777);
  const outside = join(directory, 'outside');
  await mkdir(outside, { mode: 0o700 });
  await writeFile(join(outside, 'file'), 'SECRET\n', { mode: 0o600 });
  return {
    device,
    outside,
    plant: async (name, how) => {
      await rm(join(device.root, name), { recursive: true, force: true });
      asAnother(`OUTSIDE=${outside}; ${how(name)}`, device.root);
      expect((await lstat(join(device.root, name))).uid).toBe(ANOTHER_USER);
    },
  };
}
