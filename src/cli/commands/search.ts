import { flagIn, listIn, memberIn, numberIn, textIn, textsIn } from '../answer-fields.ts';
import type { Client } from '../daemon-client.ts';
import type { Parameters } from '../http-call.ts';
import type { CommandContext } from '../command-context.ts';
import { isWhole, planQuery } from './plan.ts';
import { bytesText, formatFields, formatTable, formatTime, sizeIn } from '../terminal/table.ts';
import { shortId } from '../task.ts';

/** The most that the daemon gives at once. */
const MOST_ITEMS = 200;
/** A person narrows a search rather than reading more. */
const SHOWN_ITEMS = 50;

/** Apps and packages by words. */
export async function search(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  if (invocation.given.has('names')) return printNames(context);
  const parameters = {
    q: invocation.names.join(' '),
    kind: 'all',
    state: invocation.given.has('upgradable') ? 'upgradable' : 'all',
  };
  if (invocation.given.has('json')) {
    await output.printJson(await allItems(client, parameters));
    return 0;
  }
  const answer = await firstItems(client, parameters);
  const suggestion = textIn(answer, 'suggestion');
  const shown =
    suggestion === '' ? answer : await firstItems(client, { ...parameters, q: suggestion });
  const items = listIn(shown, 'items');
  const total = numberIn(shown, 'total') ?? items.length;
  if (hasNoLists(answer)) {
    sayNoLists(context);
    if (items.length > 0) await output.print(itemTable(items, output));
    return items.length > 0 ? 0 : 1;
  }
  sayMissingLists(context, answer);
  if (items.length === 0) {
    output.say(noneText(invocation));
    return 0;
  }
  if (suggestion !== '') {
    output.say(`nothing is called or described so; this is what "${suggestion}" finds:`);
  }
  await output.print(itemTable(items, output));
  if (total > items.length) output.say(`${total - items.length} more; another word finds fewer`);
  return 0;
}

function hasNoLists(answer: unknown): boolean {
  return textIn(memberIn(answer, 'lists'), 'state') === 'missing';
}

function sayNoLists({ output, invocation }: CommandContext): void {
  output.say(
    'there are no package lists since the device was started, so that only what is ' +
      `installed is known; to fetch them: ${invocation.self} update`,
  );
}

/** What feeds without a list offer is in no answer. */
function sayMissingLists({ output }: CommandContext, answer: unknown): void {
  const names = textsIn(memberIn(answer, 'lists'), 'missing').join(', ');
  if (names === '') return;
  output.say(`no package list came of these feeds: ${names}; what they offer is not known`);
}

function noneText({ given, self }: CommandContext['invocation']): string {
  return given.has('upgradable')
    ? `of what is called or described so nothing is newer; to fetch newer lists: ${self} update`
    : `nothing is called or described so; to fetch newer lists: ${self} update`;
}

/** All that begin so, else completion would add letters that only some have. They come first. */
async function printNames({ client, output, invocation }: CommandContext): Promise<number> {
  const [start = ''] = invocation.names;
  const names: string[] = [];
  for (let page = 1; start !== ''; page += 1) {
    const answer = await client.get('admin/store/available', {
      ...{ q: start, kind: 'all', page: String(page), per_page: String(MOST_ITEMS) },
    });
    const found = listIn(answer, 'items').map((item) => textIn(item, 'name'));
    names.push(...found.filter((name) => name.startsWith(start)));
    const isSoFar = found.at(-1)?.toLowerCase().startsWith(start.toLowerCase()) === true;
    if (found.length < MOST_ITEMS || !isSoFar) break;
  }
  const sorted = [...new Set(names)].sort();
  if (invocation.given.has('json')) await output.printJson(sorted);
  else await output.print(sorted.map((name) => `${name}\n`).join(''));
  return 0;
}

function firstItems(client: Client, parameters: Parameters): Promise<unknown> {
  return client.get('admin/store/available', { ...parameters, per_page: String(SHOWN_ITEMS) });
}

/** What is installed beside the apps, or can be upgraded. */
export async function listItems(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  const state = invocation.given.has('upgradable') ? 'upgradable' : 'installed';
  const items = await allItems(client, { kind: 'all', state, sort: 'name' });
  if (invocation.given.has('json')) await output.printJson(items);
  else if (items.length > 0) await output.print(itemTable(items, output));
  else {
    const answer = await firstItems(client, { kind: 'all', state });
    if (hasNoLists(answer)) {
      sayNoLists(context);
      return 1;
    }
    sayMissingLists(context, answer);
    output.say(state === 'upgradable' ? 'nothing can be upgraded' : 'nothing is installed');
  }
  return 0;
}

async function allItems(client: Client, parameters: Parameters): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const part = { page: String(page), per_page: String(MOST_ITEMS) };
    const answer = await client.get('admin/store/available', { ...parameters, ...part });
    const found = listIn(answer, 'items');
    items.push(...found);
    if (found.length < MOST_ITEMS || items.length >= (numberIn(answer, 'total') ?? 0)) return items;
  }
}

function itemTable(items: readonly unknown[], { look }: CommandContext['output']): string {
  const rows = oneOfAName(items).map((item) => [
    textIn(item, 'name'),
    versionOf(item),
    stateOf(item),
    sizeOf(item),
    [textIn(item, 'title'), descriptionIn(item, look.isEnglish)]
      .filter((text) => text !== '' && text !== textIn(item, 'name'))
      .join(': '),
  ]);
  return formatTable(['NAME', 'VERSION', 'STATE', 'SIZE', 'WHAT'], rows, look);
}

function descriptionIn(item: unknown, isEnglish: boolean): string {
  return (isEnglish && textIn(item, 'description_en')) || textIn(item, 'description');
}

/** An app or a package of one name: what is installed, else the app, as commands take it. */
function oneOfAName(items: readonly unknown[]): unknown[] {
  const isThere = (item: unknown): boolean => stateOf(item) !== '';
  const isApp = (item: unknown): boolean => textIn(item, 'kind') === 'app';
  const found = new Map<string, unknown>();
  for (const item of items) {
    const other = found.get(textIn(item, 'name'));
    const isBetter = isThere(item) === isThere(other) ? isApp(item) : isThere(item);
    if (other === undefined || isBetter) found.set(textIn(item, 'name'), item);
  }
  return [...found.values()];
}

function versionOf(item: unknown): string {
  const [best, installed] = [textIn(item, 'version'), textIn(item, 'installed_version')];
  return flagIn(item, 'is_upgradable') ? `${installed} → ${best}` : installed || best;
}

function stateOf(item: unknown): string {
  if (flagIn(item, 'is_upgradable')) return flagIn(item, 'is_held') ? 'held' : 'upgradable';
  return textIn(item, 'installed_version') === '' ? '' : 'installed';
}

/** Of an app that is not installed `info` and `plan` tell what it takes. */
function sizeOf(item: unknown): string {
  if (textIn(item, 'kind') === 'app' && textIn(item, 'installed_version') === '') return '';
  return sizeIn(item, 'installed_bytes') || sizeIn(item, 'download_bytes');
}

/** All that is known of one app or package. */
export async function showDetails({ client, output, invocation }: CommandContext): Promise<number> {
  const [name = ''] = invocation.names;
  const details = await client.get('admin/store/details', { package: name });
  if (invocation.given.has('json')) {
    await output.printJson(details);
    return 0;
  }
  const isNew = textIn(details, 'installed_version') === '';
  const query = planQuery('install', { names: [name], parameters: {} });
  const plan = isNew
    ? await client.get('admin/store/plan', query).catch(() => undefined)
    : undefined;
  const fields = detailFields(details, output.look.isEnglish).map(
    ([label, text]): [string, string] => [label, sizesOf(label, plan) ?? text],
  );
  await output.print(formatFields(fields, output.look));
  for (const problem of listIn(plan, 'problems')) output.say(textIn(problem, 'message'));
  return 0;
}

/** What an installation takes, with all that has to come along. */
function sizesOf(label: string, plan: unknown): string | undefined {
  const bytes = (name: string): string => bytesText(numberIn(plan, name) ?? 0);
  if (!isWhole(plan) || listIn(plan, 'installs').length === 0) return undefined;
  if (label === 'to fetch') return `${bytes('download_bytes')}, with all that it needs`;
  if (label === 'on the disk') return `${bytes('disk_bytes')}; ${bytes('free_bytes')} are free`;
  return undefined;
}

function detailFields(details: unknown, isEnglish: boolean): [string, string][] {
  const files = memberIn(details, 'files');
  const [count, bytes] = [numberIn(files, 'count'), numberIn(files, 'bytes')];
  const [time, task] = [numberIn(details, 'installed_at'), textIn(details, 'task_id')];
  const since = time === undefined || time === 0 ? '' : formatTime(time);
  return [
    ['name', textIn(details, 'name')],
    ['title', textIn(details, 'title')],
    ['kind', textIn(details, 'kind')],
    ['installed', textIn(details, 'installed_version')],
    ['since', task === '' ? since : `${since} (task ${shortId(task)})`],
    ['newest', textIn(details, 'version')],
    ['versions', listIn(details, 'versions').map(versionText).join(', ')],
    ['to fetch', sizeIn(details, 'download_bytes')],
    ['on the disk', sizeIn(details, 'installed_bytes')],
    ['section', textIn(details, 'kind') === 'app' ? '' : textIn(details, 'section')],
    ['tags', textsIn(details, 'tags').join(', ')],
    ['home page', textIn(details, 'homepage')],
    ['license', textIn(details, 'license')],
    ['maintainer', textIn(details, 'maintainer')],
    ['needs', listIn(details, 'depends').map(alternatives).join(', ')],
    ['needed by', textsIn(details, 'required_by').join(', ')],
    ['conflicts', textsIn(details, 'conflicts').join(', ')],
    ['provides', textsIn(details, 'provides').join(', ')],
    ['files', count === undefined ? '' : `${count}, ${bytesText(bytes ?? 0)}`],
    ['settings', textsIn(details, 'config').join(', ')],
    ['services', textsIn(details, 'services').join(', ')],
    ['description', descriptionIn(details, isEnglish)],
  ];
}

function versionText(version: unknown): string {
  return `${textIn(version, 'version')} (${textIn(version, 'feed')})`;
}

function alternatives(names: unknown): string {
  return Array.isArray(names) ? names.map(String).join(' or ') : '';
}
