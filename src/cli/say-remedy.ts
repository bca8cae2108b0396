import { nearest } from '../nearest.ts';
import { flagIn, listIn, numberIn, textIn } from './answer-fields.ts';
import type { Client } from './daemon-client.ts';
import type { CommandContext } from './command-context.ts';
import { bytesText } from './terminal/table.ts';

/** Why something is not possible, or failed. */
interface Problem {
  code: string;
  /** What it is about, such as a package. */
  subject: string;
  remedy: string;
  /** How much space is short, as far as that is known. */
  missingBytes?: number;
}

/** What can be done: the name that was probably meant, or what takes the most room. */
export async function sayRemedy(
  { client, output }: Pick<CommandContext, 'client' | 'output'>,
  { code, subject, remedy, missingBytes = 0 }: Problem,
): Promise<void> {
  const meant = code === 'not_found' ? await suggestName(client, subject) : undefined;
  if (meant !== undefined && meant !== subject) {
    output.say(`  → did you mean ${meant}?`);
    return;
  }
  if (remedy !== '') output.say(`  → ${remedyIn(output, { code, subject, remedy })}`);
  if (code !== 'no_space') return;
  const found = await findRemovable(client);
  for (const { name, bytes } of found) {
    output.say(`  → depotctl remove ${name} would free ${bytesText(bytes)}`);
  }
  const together = found.reduce((sum, { bytes }) => sum + bytes, 0);
  if (together < missingBytes) {
    output.say(
      `  → ${bytesText(missingBytes)} are missing, and these free ${bytesText(together)} ` +
        'together: more has to go, or a disk has to extend the system',
    );
  }
}

/** Of the names that begin like it, the one that was probably meant; undefined if none is near. */
async function suggestName(client: Client, name: string): Promise<string | undefined> {
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

/** The remedy as the page has it: one text for each code, and some that fit better. */
function remedyIn(
  { look }: Pick<CommandContext['output'], 'look'>,
  { code, subject, remedy }: Problem,
): string {
  const said = look.word(remedy);
  const ofCode = look.remedyOf(code);
  if (said !== remedy || ofCode === undefined) return said;
  return ofCode.replace('{package}', () => subject || look.word('this package'));
}

/** Of so many installed apps and packages the removal is planned, and so many are named. */
const PLANNED = 6;
const NAMED = 3;

/** What frees the most first; not what the firmware brought, which the device may need. */
async function findRemovable(client: Client): Promise<{ name: string; bytes: number }[]> {
  const installed = { kind: 'all', state: 'installed', sort: 'size', per_page: '200' };
  const list = await client.get('admin/store/available', installed).catch(() => undefined);
  const names = listIn(list, 'items')
    .filter((item) => !flagIn(item, 'is_auto') && !flagIn(item, 'is_system'))
    .map((item) => textIn(item, 'name'));
  const found: { name: string; bytes: number }[] = [];
  for (const name of [...new Set(names)].slice(0, PLANNED)) {
    const plan = await client
      .get('admin/store/plan', { operation: 'remove', package: name })
      .catch(() => undefined);
    const bytes = -(numberIn(plan, 'disk_bytes') ?? 0);
    if (flagIn(plan, 'is_possible') && bytes > 0) found.push({ name, bytes });
  }
  return found.sort((a, b) => b.bytes - a.bytes).slice(0, NAMED);
}
