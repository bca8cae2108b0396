import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Shell scripts by name, without their first line. */
export type Programs = Readonly<Record<string, string>>;

/**
 * Programs that a device has before those of this machine.
 *
 * @param directory of the device; the programs get a folder in it
 * @returns a value for PATH in which they are found first
 */
export async function createProgramFolder(directory: string, programs: Programs): Promise<string> {
  const folder = join(directory, 'bin');
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(folder, name), 0o755);
  }
  return [folder, REST].join(delimiter);
}

const REST = process.env.PATH ?? '';

/** GNU's wget tries twenty times if a connection is closed, OpenWrt's uclient-fetch does not. */
export const SINGLE_TRY_WGET: Programs = {
  wget: `PATH='${REST}'\nexec wget --tries=1 "$@"`,
};
