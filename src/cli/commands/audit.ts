import { readFile } from 'node:fs/promises';
import { DepotError } from '../../errors.ts';
import { listIn, memberIn, numberIn, parseJson, textIn } from '../answer-fields.ts';
import type { CommandContext } from '../command-context.ts';
import { formatTable } from '../terminal/table.ts';
import { whyUnread } from '../upload-file.ts';

/** What is not as its package brought it. */
export async function verifyDevice(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  const answer = await client.get('admin/system/verify');
  const differing = listIn(answer, 'differing');
  const setId = listIn(answer, 'set_id').map(String);
  const listeners = listIn(answer, 'listeners');
  const unseen = listIn(answer, 'unseen').map(String);
  const isClean = [differing, setId, listeners, unseen].every((each) => each.length === 0);
  if (invocation.given.has('json')) await output.printJson(answer);
  else {
    const { word } = output.look;
    const found = [
      ...differing.map((entry) => rowOf(entry, textIn(entry, 'what'))),
      ...listIn(answer, 'configuration').map((entry) =>
        rowOf(entry, `configuration, ${word(textIn(entry, 'what'))}`),
      ),
      ...setId.map((path) => ['set-uid, of no package', '', path]),
      ...unseen.map((path) => ['too full to be looked at', '', path]),
      ...listeners.map((entry) => [
        `listens at ${textIn(entry, 'protocol')} ${textIn(entry, 'address')} ` +
          `${numberIn(entry, 'port') ?? 0}, of no package`,
        `process ${numberIn(entry, 'pid') ?? 0}`,
        textIn(entry, 'program'),
      ]),
    ];
    const rows = found.map(([what = '', of = '', path = '']) => [word(what), word(of), path]);
    output.say(`${numberIn(answer, 'files') ?? 0} files of packages looked at`);
    if (rows.length > 0) {
      await output.print(formatTable(['WHAT', 'PACKAGE', 'PATH'], rows, output.look));
    }
  }
  return isClean ? 0 : 1;
}

function rowOf(entry: unknown, what: string): string[] {
  return [what, textIn(entry, 'package'), textIn(entry, 'path')];
}

/** What is installed, as CycloneDX. */
export async function showBill({ client, output }: CommandContext): Promise<number> {
  await output.printJson(await client.get('admin/system/sbom'));
  return 0;
}

/** Which advisories of a file concern this device. */
export async function matchAdvisories(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  const [file = ''] = invocation.names;
  const components = listIn(await client.get('admin/system/sbom'), 'components');
  const installed = new Set(components.map((entry) => textIn(entry, 'name')));
  const advisories = await readAdvisories(file);
  const wanted = advisories.flatMap(concerning).filter(({ name }) => installed.has(name));
  const affected: unknown[] = [];
  for (const batch of batchesOf(wanted.map((entry) => JSON.stringify(entry)))) {
    const answer = await client.post('admin/system/advisories', { advisories: `[${batch}]` });
    affected.push(...listIn(answer, 'affected'));
  }
  if (invocation.given.has('json')) await output.printJson(affected);
  else {
    output.say(`advisories that concern this device: ${affected.length} of ${advisories.length}`);
    const rows = affected.map((entry) =>
      ['id', 'package', 'version', 'fixed'].map((name) => textIn(entry, name)),
    );
    const titles = ['ADVISORY', 'PACKAGE', 'INSTALLED', 'FIXED IN'];
    if (rows.length > 0) await output.print(formatTable(titles, rows, output.look));
  }
  return affected.length === 0 ? 0 : 1;
}

/** One advisory of OSV, a list of them, `{"vulns": […]}`, or one a line. */
async function readAdvisories(file: string): Promise<unknown[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new DepotError('bad_request', `cannot read ${file}: ${whyUnread(error)}`);
  });
  try {
    const lines = text.split('\n').filter(Boolean);
    const body = parseJson(text) ?? lines.map((line): unknown => JSON.parse(line));
    const list = Array.isArray(body) ? (body as unknown[]) : memberIn(body, 'vulns');
    return Array.isArray(list) ? (list as unknown[]) : [body];
  } catch {
    throw new DepotError('bad_request', `cannot use ${file}: it is no list of advisories (OSV)`);
  }
}

/** What the daemon is asked of each package in an advisory. */
function concerning(advisory: unknown) {
  return listIn(advisory, 'affected').map((entry) => ({
    id: textIn(advisory, 'id'),
    name: textIn(memberIn(entry, 'package'), 'name'),
    versions: listIn(entry, 'versions').map(String),
    ranges: listIn(entry, 'ranges')
      .filter((range) => textIn(range, 'type') !== 'GIT')
      .flatMap((range) => rangesIn(listIn(range, 'events'))),
  }));
}

/** Events come in their order: each `introduced` begins one, and what follows ends it. */
function rangesIn(events: readonly unknown[]): Record<string, string>[] {
  const ranges: Record<string, string>[] = [];
  for (const event of events) {
    for (const name of ['introduced', 'fixed', 'last_affected']) {
      const version = textIn(event, name);
      if (version === '') continue;
      if (name === 'introduced') ranges.push({ introduced: version });
      else Object.assign(ranges.at(-1) ?? {}, { [name]: version });
    }
  }
  return ranges;
}

/** A form has room for so much, and a quotation mark is three characters there. */
const BATCH_CHARACTERS = 16_000;

function batchesOf(texts: readonly string[]): string[] {
  const batches: string[] = [];
  for (const text of texts) {
    const last = batches.at(-1);
    if (last === undefined || last.length + text.length > BATCH_CHARACTERS) batches.push(text);
    else batches[batches.length - 1] = `${last},${text}`;
  }
  return batches;
}
