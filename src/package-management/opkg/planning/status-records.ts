import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { OpkgConfig } from '../config.ts';
import { statusFilesIn, type Installation } from '../installation.ts';
import { endsWell } from '../database/status-file.ts';
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
  const [first = '', ...others] = await statusFilesIn(config);
  const text = (await readIntact(first, statusCopy)) ?? (await statusCopy.text());
  if (text === undefined) return undefined;
  const records = parseStatusRecords(text);
  for (const file of others) {
    records.push(...parseStatusRecords(await readFile(file, 'utf8').catch(() => '')));
  }
  return records;
}

async function readIntact(
  file: string,
  statusCopy: Installation['statusCopy'],
): Promise<string | undefined> {
  for (let tries = 0; tries < READ_TRIES; tries += 1) {
    if (tries > 0) await delay(READ_PAUSE_MS);
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text === '' ? ((await statusCopy.text()) ?? '') === '' : endsWell(text)) return text;
  }
  return undefined;
}
