import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { OpkgConfig } from '../config.ts';
import { statusFilesIn, type Installation } from '../installation.ts';
import { parseStatusRecords, type PackageRecord } from './records.ts';

/** opkg writes its status file in place within milliseconds: a short one is read again. */
const READ_TRIES = 20;
const READ_PAUSE_MS = 25;

/**
 * What opkg would read as installed. If its file is damaged, what a job would put back.
 * @returns undefined if there is no such copy
 */
export async function readStatusRecords(
  { statusCopy }: Installation,
  config: OpkgConfig,
): Promise<PackageRecord[] | undefined> {
  let text = await statusCopy.intact();
  for (let tries = 1; text === undefined && tries < READ_TRIES; tries += 1) {
    await delay(READ_PAUSE_MS);
    text = await statusCopy.intact();
  }
  text ??= await statusCopy.text();
  if (text === undefined) return undefined;
  const [, ...others] = await statusFilesIn(config);
  const further = await Promise.all(others.map((file) => readFile(file, 'utf8').catch(() => '')));
  return [text, ...further].flatMap(parseStatusRecords);
}
