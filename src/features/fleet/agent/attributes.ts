import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { reasonOf } from '../../../errors.ts';
import { nowMs } from '../clock.ts';
import { configData } from './config-data.ts';
import { driftOf } from './drift.ts';
import type { FleetSettings } from '../options.ts';
import type { Fleet, Server } from './fleet.ts';

const GOODBYE_MS = 5000;
const NOTE = 'fleet/attributes';
const sentSchema = v.object({ from: v.string(), hash: v.string() });
/** Changes all the time: it goes along with the others. */
const RESTLESS = ['free_mb', 'uptime_h'];

/**
 * Sends what operators filter by: when the server asks for it, and when it is not what was sent
 * last, which is looked at every few minutes; drift at each poll. One that refuses it is not sent
 * the same again unasked.
 */
export async function sendAttributes(
  fleet: Fleet,
  { client, from }: Server,
  isAsked: boolean,
): Promise<void> {
  const { notes, log, known } = fleet;
  const drift = await driftOf(fleet, from);
  if (!isAsked && isEarly(fleet, { from, drift })) return;
  const data = await configData(fleet, drift);
  known.looked = { from, drift, atMs: nowMs() };
  const hash = hashOf(data);
  const before = v.safeParse(sentSchema, known.attributes ?? (await notes.read(NOTE)));
  const isKnown = before.success && before.output.from === from && before.output.hash === hash;
  if (isKnown && !isAsked) return;
  const reception = await client.configure(data);
  if (reception !== 'accepted') log.warn({ reception }, 'fleet: the server refused configData');
  if (reception === 'later') known.looked = undefined;
  if (reception === 'later' || isKnown) return;
  known.attributes = { from, hash };
  await notes
    .write(NOTE, known.attributes)
    .catch((error: unknown) => log.warn({ reason: reasonOf(error) }, 'fleet note not written'));
}

/** The last that the server hears until the fleet is switched on: one try. */
export async function sayGoodbye(
  { connect, known, notes }: Fleet,
  last: FleetSettings,
): Promise<void> {
  const { client, from } = await connect(last, { answerMs: GOODBYE_MS });
  try {
    await client.configure({ fleet: 'switched off by the owner' }, 'merge');
    // So all is sent anew, without that.
    [known.looked, known.attributes] = [undefined, { from, hash: '' }];
    await notes.write(NOTE, known.attributes);
  } finally {
    client.close();
  }
}

function isEarly(
  { known: { looked }, settings }: Fleet,
  { from, drift }: { from: string; drift: string },
): boolean {
  if (looked?.from !== from || looked.drift !== drift) return false;
  return nowMs() - looked.atMs < settings().attributes_every_min * 60_000;
}

function hashOf(data: Readonly<Record<string, string>>): string {
  const lasting = Object.entries(data).filter(([name]) => !RESTLESS.includes(name));
  return createHash('sha256').update(JSON.stringify(lasting.sort())).digest('hex').slice(0, 16);
}
