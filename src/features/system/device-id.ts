import { randomUUID } from 'node:crypto';
import type { Notes } from '../../device/ports.ts';

/** A random id that stays with the device: made when first asked for, then kept. */
export function createDeviceId(notes: Notes): () => Promise<string> {
  let id: Promise<string> | undefined;
  return () => {
    id ??= readOrMake(notes).catch((error: unknown) => {
      // One that could not be kept would be another after the next start, so it is not given out.
      id = undefined;
      throw error;
    });
    return id;
  };
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
