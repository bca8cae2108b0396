import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { reasonOf } from '../../../errors.ts';
import { configData } from './config-data.ts';
import type { Fleet, Server } from './fleet.ts';

const NOTE = 'fleet/attributes';
const sentSchema = v.object({ from: v.string(), hash: v.string() });
/** Changes all the time: it goes along with the others. */
const RESTLESS = ['free_mb'];

/**
 * Sends what operators filter by: when the server asks for it, and when it is not what was sent
 * last. One that refuses it is not sent the same again unasked.
 */
export async function sendAttributes(
  fleet: Fleet,
  { client, from }: Server,
  isAsked: boolean,
): Promise<void> {
  const { notes, log, known } = fleet;
  const data = await configData(fleet);
  const hash = hashOf(data);
  const before = v.safeParse(sentSchema, known.attributes ?? (await notes.read(NOTE)));
  const isKnown = before.success && before.output.from === from && before.output.hash === hash;
  if (isKnown && !isAsked) return;
  const reception = await client.configure(data);
  if (reception !== 'accepted') log.warn({ reception }, 'fleet: the server refused configData');
  if (reception === 'later' || isKnown) return;
  known.attributes = { from, hash };
  await notes
    .write(NOTE, known.attributes)
    .catch((error: unknown) => log.warn({ reason: reasonOf(error) }, 'fleet note not written'));
}

function hashOf(data: Readonly<Record<string, string>>): string {
  const lasting = Object.entries(data).filter(([name]) => !RESTLESS.includes(name));
  return createHash('sha256').update(JSON.stringify(lasting.sort())).digest('hex').slice(0, 16);
}
