import { flagIn, listIn, numberIn, textIn } from '../answer.ts';
import type { Client } from '../client.ts';
import type { CommandContext } from '../command-context.ts';
import { ask } from '../terminal/ask.ts';
import { bytesText } from '../terminal/bytes.ts';
import { formatTable, type TableLook } from '../terminal/table.ts';
import { sayRemedy } from '../say-remedy.ts';

/** Operations that change packages by their names: those that the daemon can plan. */
const PLANNED = ['install', 'remove', 'upgrade'] as const;
export type PlannedOperation = (typeof PLANNED)[number];

export function isPlanned(command: string): command is PlannedOperation {
  return (PLANNED as readonly string[]).includes(command);
}

interface PlanRequest {
  /** None with upgrade: everything that can be. */
  names: readonly string[];
  /** Of the operation. */
  parameters: Readonly<Record<string, string>>;
}

export function fetchPlan(
  client: Client,
  operation: PlannedOperation,
  { names, parameters: { translations } }: PlanRequest,
): Promise<unknown> {
  return client.get('admin/store/plan', {
    operation,
    ...(translations !== undefined && { translations }),
    ...(names.length === 0 ? { all: 'true' } : { package: names }),
  });
}

/** plan OPERATION NAME…, and --dry-run. */
export async function showPlan(
  context: CommandContext,
  operation: PlannedOperation,
  names: readonly string[],
): Promise<number> {
  const { client, output, invocation } = context;
  const plan = await fetchPlan(client, operation, { ...invocation, names });
  if (invocation.isJson) await output.printJson(plan);
  else await print(context, plan, names.length === 0);
  return flagIn(plan, 'is_possible') ? 0 : 1;
}

export async function planCommand(context: CommandContext): Promise<number> {
  const [operation = '', ...names] = context.invocation.names;
  return isPlanned(operation) ? showPlan(context, operation, names) : 2;
}

/**
 * Shows a person what would change, and asks.
 * @returns the exit code to end with; undefined: go on
 */
export async function confirm(
  context: CommandContext,
  operation: PlannedOperation,
): Promise<number | undefined> {
  const { client, output, invocation } = context;
  const plan = await fetchPlan(client, operation, invocation);
  if (lacksLists(plan)) {
    output.say('there are no package lists since the device was started: they are fetched first');
    return (await mayGoOn(output)) ? undefined : nothingChanged(output);
  }
  await print(context, plan, invocation.names.length === 0);
  if (!flagIn(plan, 'is_possible')) return 1;
  if (changesOf(plan).length === 0 && invocation.parameters.autoconf === undefined) return 0;
  if (await mayGoOn(output)) return undefined;
  return nothingChanged(output);
}

const NOTHING_CHANGED = 'nothing was changed';

function nothingChanged({ say }: CommandContext['output']): number {
  say(NOTHING_CHANGED);
  return 1;
}

function mayGoOn({ atInterrupt, interrupt }: CommandContext['output']): Promise<boolean> {
  atInterrupt(() => NOTHING_CHANGED);
  return ask('Go on? [Y/n] ', interrupt).finally(() => atInterrupt(undefined));
}

/** A task fetches them before it chooses, a plan fetches nothing. */
function lacksLists(plan: unknown): boolean {
  return listIn(plan, 'problems').some((problem) => textIn(problem, 'code') === 'no_lists');
}

async function print(
  { client, output }: CommandContext,
  plan: unknown,
  isOfAll: boolean,
): Promise<void> {
  await output.print(formatPlan(plan, output.look));
  if (isOfAll) await sayLeft({ client, output }, plan);
  for (const problem of listIn(plan, 'problems')) {
    output.say(textIn(problem, 'message'));
    await sayRemedy(
      { client, output },
      {
        code: textIn(problem, 'code'),
        subject: textIn(problem, 'package'),
        remedy: textIn(problem, 'remedy'),
      },
    );
  }
}

const MOST_LEFT = 5;

/** What has a newer version and is not in the plan of an upgrade without names. */
async function sayLeft(
  { client, output }: Pick<CommandContext, 'client' | 'output'>,
  plan: unknown,
): Promise<void> {
  const parameters = { kind: 'package', state: 'upgradable', per_page: '200' };
  const answer = await client.get('admin/store/available', parameters).catch(() => undefined);
  const planned = new Set(listIn(plan, 'upgrades').map((change) => textIn(change, 'name')));
  const left = listIn(answer, 'items')
    .filter((item) => !flagIn(item, 'is_held'))
    .map((item) => textIn(item, 'name'))
    .filter((name) => !planned.has(name));
  if (left.length === 0) return;
  const named = left.slice(0, MOST_LEFT).join(', ');
  const more = left.length > MOST_LEFT ? ` and ${left.length - MOST_LEFT} more` : '';
  output.say(
    `left as it is: ${named}${more}; what came with the firmware comes with the next one, or is ` +
      'upgraded by its name',
  );
}

interface Change {
  verb: string;
  name: string;
  versions: string;
  reason: string;
  bytes: number;
}

function changesOf(plan: unknown): Change[] {
  return (
    [
      ['installs', 'install'],
      ['upgrades', 'upgrade'],
      ['removes', 'remove'],
    ] as const
  ).flatMap(([list, verb]) =>
    listIn(plan, list).map((change) => {
      const [from, to] = [textIn(change, 'from_version'), textIn(change, 'version')];
      return {
        verb,
        name: textIn(change, 'name'),
        versions: from === '' ? to : `${from} → ${to}`,
        reason: textIn(change, 'reason'),
        bytes: numberIn(change, 'disk_bytes') ?? 0,
      };
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
  if (changes.length === 0) return 'nothing to do: all is as asked for\n';
  const rows = changes.map(({ verb, name, versions, reason, bytes }) => [
    verb,
    name,
    versions,
    signed(bytes),
    reason,
  ]);
  const headings = ['CHANGE', 'NAME', 'VERSION', 'DISK', 'WHY'];
  return formatTable(headings, rows, { ...look, titleAt: 1 }) + formatSums(plan, look);
}

/** On one line; one a line if they are too long for the terminal. */
function formatSums(plan: unknown, { columns = Infinity }: TableLook): string {
  const download = numberIn(plan, 'download_bytes') ?? 0;
  const sums = [
    ...(download === 0 ? [] : [`to be fetched: ${bytesText(download)}`]),
    `on the disk: ${signed(numberIn(plan, 'disk_bytes') ?? 0)}`,
    `free: ${bytesText(numberIn(plan, 'free_bytes') ?? 0)}, ` +
      `then ${bytesText(numberIn(plan, 'free_after_bytes') ?? 0)}`,
  ];
  const line = sums.join('; ');
  return `${line.length > columns ? sums.join('\n') : line}\n`;
}

function signed(bytes: number): string {
  return bytes > 0 ? `+${bytesText(bytes)}` : bytesText(bytes);
}
