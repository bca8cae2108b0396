import { flagIn, listIn, numberIn, textIn, textsIn } from '../answer-fields.ts';
import type { Parameters } from '../http-call.ts';
import type { CommandContext } from '../command-context.ts';
import { ask } from '../terminal/ask.ts';
import { bytesText, formatTable, type TableLook } from '../terminal/table.ts';
import { widthOf } from '../terminal/width.ts';
import { sayRemedy } from '../say-remedy.ts';

/** Operations that change packages by their names: those that the daemon can plan. */
const PLANNED = ['install', 'remove', 'upgrade'] as const;
type PlannedOperation = (typeof PLANNED)[number];

export function isPlanned(command: string): command is PlannedOperation {
  return (PLANNED as readonly string[]).includes(command);
}

interface PlanRequest {
  /** Names of packages; none with upgrade: everything that can be. */
  names: readonly string[];
  /** Parameters of the operation that is planned. */
  parameters: Readonly<Record<string, string>>;
}

export function planQuery(
  operation: PlannedOperation,
  { names, parameters: { translations, system } }: PlanRequest,
): Parameters {
  return {
    operation,
    ...(translations !== undefined && { translations }),
    ...(system !== undefined && { system }),
    ...(names.length === 0 ? { all: 'true' } : { package: names }),
  };
}

/** plan OPERATION NAME…, and --dry-run. */
export async function showPlan(context: CommandContext, query: Parameters): Promise<number> {
  const { client, output, invocation } = context;
  const plan = await client.get('admin/store/plan', query);
  if (invocation.given.has('json')) await output.printJson(plan);
  else await print(context, plan);
  return flagIn(plan, 'is_possible') ? 0 : 1;
}

export async function planCommand(context: CommandContext): Promise<number> {
  const [operation = '', ...names] = context.invocation.names;
  if (!isPlanned(operation)) return 2;
  return showPlan(context, planQuery(operation, { ...context.invocation, names }));
}

/** Shows what would change, and asks. @returns the exit code to end with; undefined: go on */
export async function confirm(
  context: CommandContext,
  query: Parameters,
): Promise<number | undefined> {
  const { client, output, invocation } = context;
  const plan = await client.get('admin/store/plan', query);
  // A task fetches them before it chooses, a plan fetches nothing.
  const lacking = listIn(plan, 'problems').find((each) => textIn(each, 'code') === 'no_lists');
  if (lacking !== undefined) {
    output.say(`${textIn(lacking, 'message')}; they are fetched first`);
    return (await mayGoOn(output)) ? undefined : 1;
  }
  await print(context, plan);
  if (!flagIn(plan, 'is_possible')) return 1;
  const isNothing = changesOf(plan).length === 0 && textsIn(plan, 'files').length === 0;
  if (isNothing && invocation.parameters.autoconf === undefined) return 0;
  return (await mayGoOn(output)) ? undefined : 1;
}

/** Whether there is somebody to ask, who wants to be asked. */
export function isAsked({ output, invocation: { given } }: CommandContext): boolean {
  return output.isInteractive && !given.has('yes') && !given.has('json');
}

const NOTHING_CHANGED = 'nothing was changed';

/** @param undo what is to be done if not, at Ctrl-C, too, which then ends the program */
export async function mayGoOn(
  { atInterrupt, interrupt, look, say }: CommandContext['output'],
  undo = () => Promise.resolve(),
): Promise<boolean> {
  const asked = { isInterrupted: false };
  atInterrupt(() => NOTHING_CHANGED);
  const isYes = await ask(look.word('Go on? [Y/n] '), () => (asked.isInterrupted = true));
  if (!isYes) await undo();
  if (asked.isInterrupted) interrupt();
  atInterrupt(undefined);
  if (!isYes) say(NOTHING_CHANGED);
  return isYes;
}

async function print(context: CommandContext, plan: unknown): Promise<void> {
  const { output } = context;
  await output.print(formatPlan(plan, output.look));
  const stops = listIn(plan, 'stops').map((stop) => textIn(stop, 'message'));
  if (stops.length > 0) output.say(`the device stands on it: ${stops.join('; ')}`);
  const settings = textsIn(plan, 'settings');
  if (settings.length > 0) {
    output.say(`settings go, too, unless they were changed: ${settings.join(', ')}`);
  }
  sayContainers(context, plan);
  const files = textsIn(plan, 'files');
  if (files.length > 0) output.say(`files that go back: ${files.join(', ')}`);
  const cutOff = [...new Set(listIn(plan, 'restarts').map((one) => textIn(one, 'what')))];
  if (cutOff.length > 0) {
    output.say(
      `it may cut you off (${cutOff.join(', ')}): with --confirm SECONDS it goes back by itself ` +
        'unless it is confirmed',
    );
  }
  sayLeft(output, plan);
  for (const problem of listIn(plan, 'problems')) {
    output.say(textIn(problem, 'message'));
    const [code, remedy] = [textIn(problem, 'code'), textIn(problem, 'remedy')];
    const subject = textIn(problem, 'package');
    await sayRemedy(context, { code, subject, remedy, missingBytes: missingIn(plan) });
  }
}

/** Containers go with their app, their data and images if they are asked to. */
function sayContainers({ output, invocation }: CommandContext, plan: unknown): void {
  const containers = listIn(plan, 'containers');
  if (containers.length === 0) return;
  const isPurge = invocation.parameters.purge !== undefined;
  const names = containers.map((container) => textIn(container, 'name'));
  output.say(`containers that go with it: ${names.join(', ')}`);
  const data = [...new Set(containers.flatMap((container) => textsIn(container, 'keeps')))];
  const images = [...new Set(containers.map(imageText))];
  const folders = data.join(', ');
  const dataText = isPurge
    ? `its data goes for good: ${folders}`
    : `its data stays (--purge removes it): ${folders}`;
  if (data.length > 0) output.say(dataText);
  const imageNames = images.join(', ');
  output.say(isPurge ? `its images go: ${imageNames}` : `its images stay: ${imageNames}`);
}

function imageText(container: unknown): string {
  const bytes = numberIn(container, 'image_bytes');
  const facts = [
    ...(bytes === undefined ? [] : [bytesText(bytes)]),
    ...(flagIn(container, 'is_unpinned') ? ['no fixed version'] : []),
  ];
  const image = textIn(container, 'image');
  return facts.length === 0 ? image : `${image} (${facts.join(', ')})`;
}

const MOST_LEFT = 5;
const LEFT = {
  firmware: [
    'belongs to the firmware: it comes with the next one',
    'belong to the firmware: they come with the next one',
  ],
  held: ['is held at its version', 'are held at their versions'],
  feed: ['is of a feed without upgrades', 'are of a feed without upgrades'],
} as const;

/** What has a newer version and is not in the plan of an upgrade. */
function sayLeft({ say, look: { word } }: CommandContext['output'], plan: unknown): void {
  for (const reason of ['firmware', 'held', 'feed'] as const) {
    const names = listIn(plan, 'left')
      .filter((left) => textIn(left, 'reason') === reason)
      .map((left) => textIn(left, 'name'));
    if (names.length === 0) continue;
    const named = names.slice(0, MOST_LEFT).join(', ');
    const more = names.length > MOST_LEFT ? word(` and ${names.length - MOST_LEFT} more`) : '';
    const [one, several] = LEFT[reason];
    say(`${names.length} ${word(names.length === 1 ? one : several)} (${named}${more})`);
  }
}

/** Rows of the table: verb, name, versions, bytes on the disk, reason. */
function changesOf(plan: unknown): string[][] {
  return ['install', 'upgrade', 'remove'].flatMap((verb) =>
    listIn(plan, `${verb}s`).map((change) => {
      const [from, to] = [textIn(change, 'from_version'), textIn(change, 'version')];
      const versions = from === '' ? to : `${from} → ${to}`;
      const disk = signed(numberIn(change, 'disk_bytes') ?? 0);
      return [verb, textIn(change, 'name'), versions, disk, textIn(change, 'reason')];
    }),
  );
}

/** What breaks off at a problem has figures of a part, unless the space is what would be short. */
export function isWhole(plan: unknown): boolean {
  return flagIn(plan, 'is_possible') || (numberIn(plan, 'free_after_bytes') ?? 0) < 0;
}

function formatPlan(plan: unknown, look: TableLook): string {
  const changes = changesOf(plan);
  if (!isWhole(plan)) return '';
  const { word = (text: string) => text } = look;
  // The plan of an undo may name files alone.
  if (changes.length === 0 && textsIn(plan, 'files').length > 0) return '';
  if (changes.length === 0) return `${word('nothing to do: all is as asked for')}\n`;
  const headings = ['CHANGE', 'NAME', 'VERSION', 'DISK', 'WHY'];
  return formatTable(headings, changes, { ...look, titleAt: 1 }) + formatSums(plan, look);
}

/** Bytes that are short; apk wants some to spare. */
function missingIn(plan: unknown): number {
  const said = listIn(plan, 'problems').map((one) => numberIn(one, 'missing_bytes') ?? 0);
  return Math.max(0, -(numberIn(plan, 'free_after_bytes') ?? 0), ...said);
}

/** The sums on one line; one a line if they are too long for the terminal. */
function formatSums(
  plan: unknown,
  { columns = Infinity, word = (text) => text }: TableLook,
): string {
  const download = numberIn(plan, 'download_bytes') ?? 0;
  const [missing, after] = [missingIn(plan), numberIn(plan, 'free_after_bytes') ?? 0];
  const rest = missing > 0 ? `${bytesText(missing)} are missing` : `then ${bytesText(after)}`;
  const sums = [
    ...(download === 0 ? [] : [`to be fetched: ${bytesText(download)}`]),
    `on the disk: ${signed(numberIn(plan, 'disk_bytes') ?? 0)}`,
    `free: ${bytesText(numberIn(plan, 'free_bytes') ?? 0)}, ${word(rest)}`,
  ].map(word);
  const line = sums.join(word('; '));
  return `${widthOf(line) > columns ? sums.join('\n') : line}\n`;
}

function signed(bytes: number): string {
  return bytes > 0 ? `+${bytesText(bytes)}` : bytesText(bytes);
}
