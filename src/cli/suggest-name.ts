import { listIn, textIn } from './answer.ts';
import type { Client } from './client.ts';
import { nearest } from '../nearest.ts';

/** Of the names that begin like it, the one that was probably meant; undefined if none is near. */
export async function suggestName(client: Client, name: string): Promise<string | undefined> {
  const start = name.slice(0, 3);
  if (start === '') return undefined;
  const answer = await client
    .get('admin/store/available', { kind: 'all', q: start, per_page: '200' })
    .catch(() => undefined);
  return nearest(
    name,
    listIn(answer, 'items').map((item) => textIn(item, 'name')),
  );
}
