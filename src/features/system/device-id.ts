import { randomUUID } from 'node:crypto';
import { readSmallFile } from '../../device/owner-file.ts';
import type { Notes } from '../../device/ports.ts';
import { once } from './once.ts';

/** Made when first asked for. One that could not be kept would change: it is not given out. */
export function createDeviceId(notes: Notes): () => Promise<string> {
  return once(async () => {
    const known = await notes.read(NOTE);
    if (typeof known === 'string' && FORM.test(known)) return known;
    const id = randomUUID().replaceAll('-', '');
    await notes.write(NOTE, id);
    return id;
  });
}

const NOTE = 'device-id';
const FORM = /^[0-9a-f]{32}$/;
const MOST_BYTES = 4096;

/** iStore's id (`{"arch":…,"uid":…}` in `/etc/.app_store.id`), if it gave one, else our own. */
export async function storeId(file: string, deviceId: () => Promise<string>): Promise<string> {
  const text = await readSmallFile(file, MOST_BYTES);
  return /"uid"\s*:\s*"([0-9A-Za-z_-]{1,128})"/.exec(text ?? '')?.[1] ?? deviceId();
}
