import { DepotError } from '../../errors.ts';
import { flagIn, listIn, numberIn, textIn } from '../answer-fields.ts';
import { printFields, printRows, type CommandContext } from '../command-context.ts';
import { listItems } from './search.ts';
import { formatSpan, formatTime } from '../terminal/table.ts';
import { listTasks, shortId, type Task } from '../task.ts';

/** The installed apps, by name. */
export async function listApps(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  if (invocation.given.has('all') || invocation.given.has('upgradable')) return listItems(context);
  const apps = await client.get('admin/store/installed');
  if (!Array.isArray(apps)) {
    const message = 'cannot list the apps: the daemon did not answer with a list';
    throw new DepotError('command_failed', message);
  }
  return printRows(context, apps, {
    headings: ['NAME', 'VERSION', 'INSTALLED', 'TITLE'],
    rows: apps
      .map((app) => appRow(app, output.look.word))
      .sort(([one = ''], [other = '']) => (one < other ? -1 : 1)),
    none: 'no apps are installed',
  });
}

function appRow(app: unknown, word: (text: string) => string): string[] {
  const { release, time, broken } = app as { release?: unknown; time?: unknown; broken?: unknown };
  const version = `${textIn(app, 'version')}${typeof release === 'number' ? `-${release}` : ''}`;
  const fault = broken === true ? word(' (its description cannot be read)') : '';
  const title = `${textIn(app, 'title')}${fault}`;
  return [textIn(app, 'name'), version, typeof time === 'number' ? formatTime(time) : '', title];
}

type Field = readonly [string, string];

/** One app or package, a field a line. */
export async function showStatus(context: CommandContext): Promise<number> {
  const [name = ''] = context.invocation.names;
  const status = await context.client.get('admin/store/status', { package: name });
  const known: Record<string, unknown> = { name, ...(status as object) };
  const { time, ...fields } = known;
  const rows = Object.entries(fields).map(([key, value]): Field => [key, showValue(value)]);
  const installedAt = typeof time === 'number' ? [['time', formatTime(time)] as Field] : [];
  await printFields(context, status, [...rows, ...installedAt]);
  return flagIn(status, 'installed') ? 0 : 1;
}

function showValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(showValue).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replace(/\p{Cc}+/gu, ' ');
}

/** The tasks, newest first. */
export async function listJobs(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  const tasks = await listTasks(client);
  if (invocation.given.has('json')) {
    for (const { id, raw } of tasks) await output.printJson({ task_id: id, ...raw });
    return 0;
  }
  return printRows(context, tasks, {
    headings: ['TASK', 'STATE', 'STARTED', 'TOOK', 'COMMAND'],
    rows: tasks.map((task) => taskRow(task, output.look.word)),
    none: 'there are no tasks yet',
  });
}

function taskRow(
  { id, state, startedAt, stoppedAt, command, isRunning, stage, error }: Task,
  word: (text: string) => string,
): string[] {
  const duration =
    state === 'queued' ? '' : formatSpan((stoppedAt ?? Date.now() / 1000) - startedAt);
  const remark = isRunning ? stage.label : error;
  // Right behind its command: on a narrow terminal a column of its own would stand lines below.
  return [
    shortId(id),
    state,
    state === 'queued' ? '' : formatTime(startedAt),
    duration,
    [command, remark].filter(Boolean).map(word).join('  '),
  ];
}

export async function showToken({ client, output, invocation }: CommandContext): Promise<number> {
  const answer = await client.get('admin/store/token');
  if (invocation.given.has('json')) await output.printJson(answer);
  else await output.print(`${textIn(answer, 'token')}\n`);
  return 0;
}

/** The files that were sent and installed. */
export async function listUploads(context: CommandContext): Promise<number> {
  const uploads = listIn(await context.client.get('admin/store/run_records'), 'records');
  return printRows(context, uploads, {
    headings: ['UPLOAD', 'INSTALLED', 'FILE'],
    rows: uploads.map((upload) => [
      shortId(textIn(upload, 'id')),
      formatTime(numberIn(upload, 'ts') ?? 0),
      textIn(upload, 'file'),
    ]),
    none: 'no uploaded file is installed',
  });
}
