import { randomUUID } from 'node:crypto';
import { readSmallFile } from '../../device/owner-file.ts';
import type { Notes } from '../../device/ports.ts';
import { once } from './once.ts';

/**
 * A random id that stays with the device: made when first asked for, then kept. One that could not
 * be kept would be another after the next start, so it is not given out.
 */
export function createDeviceId(notes: Notes): () => Promise<string> {
  return once(() => readOrMake(notes));
}

const NOTE = 'device-id';
const FORM = /^[0-9a-f]{32}$/;

async function readOrMake(notes: Notes): Promise<string> {
  const known = await notes.read(NOTE);
  if (typeof known === 'string' && FORM.test(known)) return known;
  const id = randomUUID().replaceAll('-', '');
  await notes.write(NOTE, id);
  return id;
}

const MOST_BYTES = 4096;

/**
 * The id that the store's catalogue knows the device by: iStore's (`{"arch":…,"uid":…}`) if it
 * gave one.
 * @param file iStore's, `/etc/.app_store.id`
 */
export async function storeId(file: string, deviceId: () => Promise<string>): Promise<string> {
  const text = await readSmallFile(file, MOST_BYTES);
  return /"uid"\s*:\s*"([0-9A-Za-z_-]{1,128})"/.exec(text ?? '')?.[1] ?? deviceId();
}
