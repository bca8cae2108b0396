import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { reasonOf } from '../../../errors.ts';
import { isPresent } from '../../../package-management/database.ts';
import { metaPackageOf } from '../../../package-management/names.ts';
import { nowMs } from '../clock.ts';
import { configData } from './device-attributes.ts';
import type { FleetSettings } from '../options.ts';
import type { Fleet, Server } from './fleet.ts';

const GOODBYE_MS = 5000;
const NOTE = 'fleet/attributes';
const sentSchema = v.object({ from: v.string(), hash: v.string() });
const MOST_DRIFT_CHARACTERS = 128;
/** Attributes that always change: they are sent along with others, and cause no sending. */
const RESTLESS = ['free_mb', 'uptime_h'];

/**
 * Sends what operators filter by: when the server asks for it, and when it is not what was sent
 * last, which is looked at every few minutes; drift at each poll. One that refuses it is not sent
 * the same again unasked.
 */
export async function sendAttributes(fleet: Fleet, { client, from }: Server, isAsked: boolean) {
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

/** The goodbye is the last that the server hears until the fleet is switched on: one try. */
export async function sayGoodbye({ connect, known, notes }: Fleet, last: FleetSettings) {
  const { client, from } = await connect(last, { answerMs: GOODBYE_MS });
  try {
    await client.configure({ fleet: 'switched off by the owner' }, 'merge');
    // Once switched on again, all attributes are sent anew, without `fleet`.
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

/**
 * What is missing, or older, of what this server's sets have installed: `adfilter missing, dnsmasq
 * 2.90-1`. Nothing is done about it. An owner's newer version is none.
 */
async function driftOf(
  { records, manager }: Pick<Fleet, 'records' | 'manager'>,
  from: string,
): Promise<string> {
  const wished = new Map<string, string>();
  for (const { from: other, rolledOut, work } of records.all()) {
    if (other !== from || rolledOut === undefined) continue;
    for (const name of work?.remove ?? []) {
      for (const each of [metaPackageOf(name), name]) wished.delete(each);
    }
    for (const [name, version] of Object.entries(rolledOut)) wished.set(name, version);
  }
  if (wished.size === 0) return '';
  const installed = await manager.installed();
  return fitting(
    [...wished].flatMap(([name, version]) => {
      const now = installed.get(name);
      if (!isPresent(now)) return [`${name} missing`];
      const isOlder = manager.compareVersions(now.version, version) < 0;
      return isOlder ? [`${name} ${now.version}`] : [];
    }),
  );
}

function fitting(found: readonly string[]): string {
  for (let count = found.length; count > 0; count -= 1) {
    const more = found.length - count;
    const text = [...found.slice(0, count), ...(more === 0 ? [] : [`${more} more`])].join(', ');
    if (text.length <= MOST_DRIFT_CHARACTERS) return text;
  }
  return found.length === 0 ? '' : `${found.length} packages`;
}
