import { DepotError, reasonOf } from '../../errors.ts';
import { numberIn, textIn, textsIn } from '../answer-fields.ts';
import type { CommandContext } from '../command-context.ts';
import type { Parameters } from '../http-call.ts';
import { changeFeed, istoreFeed, listFeeds } from './feeds.ts';
import { followTask } from '../follow.ts';
import { confirm, isAsked, isPlanned, planQuery, showPlan } from './plan.ts';
import { sayRemedy } from '../say-remedy.ts';
import { formatSpan } from '../terminal/table.ts';
import { fetchTask, findTask, shortId, type Task } from '../task.ts';
import { findUndone } from './undo.ts';
import { openUpload } from '../upload-file.ts';

/** A daemon that is started again is back by then. */
const RECONNECT_MS = 30_000;
/** A daemon is back by then also if its old version had to be put back. */
const SELF_UPGRADE_MS = 300_000;

/** The daemon gets all tasks at once and does them in turn; then each is followed. */
export async function submitJobs(context: CommandContext): Promise<number> {
  const { invocation } = context;
  const { names } = invocation;
  const query = await queryOf(context);
  if (query !== undefined) {
    if (invocation.given.has('dry-run')) return showPlan(context, query);
    if (isAsked(context)) {
      const refusal = await confirm(context, query);
      if (refusal !== undefined) return refusal;
    }
  }
  return submitEach(context, names.length === 0 ? [''] : names);
}

/** What the plan is asked with; undefined for what has none. */
async function queryOf({ client, invocation }: CommandContext): Promise<Parameters | undefined> {
  const { command, names, parameters } = invocation;
  if (isPlanned(command)) return planQuery(command, { names, parameters });
  if (command !== 'undo') return undefined;
  const undone = await findUndone(client, names[0] ?? '');
  return undone.operation === 'undo' ? { operation: 'undo', ...undone.parameters } : undefined;
}

/** `feeds`: what there is; with a word behind it one task, too. */
export async function feeds(context: CommandContext): Promise<number> {
  const { names } = context.invocation;
  return names.length === 0 ? listFeeds(context) : submitEach(context, names.slice(1, 2));
}

/** What the other names would be refused for, too. */
const OF_ALL = ['upstream_unreachable', 'forbidden'];

export async function submitEach(
  context: CommandContext,
  names: readonly string[],
): Promise<number> {
  const { command, given, self } = context.invocation;
  context.output.atInterrupt(() => `interrupted; what has begun goes on: ${self} jobs shows it`);
  const ids: string[] = [];
  let failures = 0;
  for (const name of names) {
    try {
      ids.push(await submit(context, name));
    } catch (error) {
      if (error instanceof DepotError && OF_ALL.includes(error.code)) throw error;
      const reason = reasonOf(error);
      context.output.say(names.length > 1 ? `${command} ${name}: ${reason}` : reason);
      const { code = '', remedy = '' } = (error instanceof DepotError && error.explanation) || {};
      await sayRemedy(context, { code, subject: name, remedy });
      failures += 1;
    }
  }
  if (!given.has('detach')) failures += await followAll(context, ids);
  return failures === 0 ? 0 : 1;
}

async function submit(context: CommandContext, name: string): Promise<string> {
  const { output, invocation } = context;
  const { command, given } = invocation;
  const answer = await request(context, name);
  const id = textIn(answer, 'task_id');
  if (id === '') {
    throw new DepotError(
      'command_failed',
      textIn(answer, 'stderr') || `cannot ${command} ${name}: the daemon did not take it`,
    );
  }
  if (given.has('detach')) {
    await (given.has('json') ? output.printJson(answer) : output.print(`${id}\n`));
  }
  return id;
}

/** Operations that are not called as their commands are. */
const OPERATIONS: Readonly<Record<string, string>> = {
  migrate: 'docker_migrate',
  'self-upgrade': 'do_self_upgrade',
};
/** Parameters that a command's name stands for, if it is no package's. */
const SUBJECTS: Readonly<Record<string, string>> = { restore: 'backup', migrate: 'path' };

async function request(context: CommandContext, name: string): Promise<unknown> {
  const { client, output, invocation } = context;
  const { command, names, parameters } = invocation;
  if (command === 'feeds') return changeFeed(context);
  if (command === 'import') return istoreFeed(context, name);
  if (command === 'upload') return sendFile({ client, output }, name);
  if (command === 'undo') {
    const { operation, parameters: undone } = await findUndone(client, name);
    const more = operation === 'undo' ? parameters : {};
    return client.post(`admin/store/${operation}`, { ...more, ...undone });
  }
  const subject = names.length === 0 ? {} : { [SUBJECTS[command] ?? 'package']: name };
  return client.post(`admin/store/${OPERATIONS[command] ?? command}`, {
    ...parameters,
    ...(command === 'upgrade' && name === '' ? { all: 'true' } : subject),
  });
}

export async function sendFile(
  { client, output }: Pick<CommandContext, 'client' | 'output'>,
  path: string,
  operation = 'upload',
): Promise<unknown> {
  let shown = -1;
  const body = await openUpload(path, (sentBytes, sizeBytes) => {
    const percent = Math.floor((100 * sentBytes) / sizeBytes);
    if (percent !== shown) output.progress(`sending ${path}: ${percent} %`);
    shown = percent;
  });
  try {
    return await client.upload(`admin/store/${operation}`, body);
  } finally {
    output.progress('');
  }
}

async function followAll(context: CommandContext, ids: readonly string[]): Promise<number> {
  const waiting = [...ids];
  context.output.atInterrupt(() => farewell(context, waiting));
  let failures = 0;
  for (const id of ids) {
    failures += (await followToEnd(context, id)) ? 0 : 1;
    waiting.shift();
  }
  context.output.atInterrupt(undefined);
  return failures;
}

/** Follows a task to its end. @returns whether it was done */
async function followToEnd(context: CommandContext, id: string): Promise<boolean> {
  const { client, output, invocation } = context;
  const write = invocation.given.has('json') ? () => Promise.resolve() : output.printLog;
  const patienceMs = invocation.command === 'self-upgrade' ? SELF_UPGRADE_MS : RECONNECT_MS;
  const task = await followTask({ client, output, id, write, patienceMs }).catch(
    (error: unknown) => {
      if (error instanceof DepotError && error.code === 'forbidden') {
        output.say(
          `the task goes on; to go on watching when you are logged in: ${invocation.self} ` +
            `log -f ${shortId(id)}`,
        );
      }
      throw error;
    },
  );
  if (invocation.given.has('json')) await output.printJson({ task_id: id, ...task.raw });
  else await sayEnd(context, task);
  return task.exitCode === 0;
}

/** How it ended; if it failed, why, and then what can be done. */
async function sayEnd(context: CommandContext, task: Task): Promise<void> {
  const { output } = context;
  output.say(verdictOf(task, output.look.word));
  sayHowToKeep(context, task);
  if (task.state === 'stopped') return;
  if (task.state === 'done') {
    if (task.kind === 'install') await sayPage(context, task.subject);
    return;
  }
  await sayRemedy(context, { ...task, code: task.errorCode });
  if (isPlanned(task.kind)) output.say(leftBy(task));
}

/** What was asked for with --confirm goes back by itself. */
function sayHowToKeep({ output }: CommandContext, { id, raw }: Task): void {
  const by = numberIn(raw, 'confirm_by');
  if (by === undefined) return;
  const left = formatSpan(Math.max(0, by - Math.floor(Date.now() / 1000)));
  output.say(`  it goes back in ${left}, unless: depotctl confirm ${shortId(id)}`);
}

/** A change of packages that failed is taken back; what could not be is named. */
function leftBy({ raw }: Task): string {
  const names = textsIn(raw, 'packages');
  return names.length === 0
    ? '  nothing was left behind: all is as it was before'
    : `  changed all the same: ${names.join(', ')}`;
}

/** Where an app that was installed is used. */
async function sayPage({ client, output }: CommandContext, name: string): Promise<void> {
  const status = await client.get('admin/store/status', { package: name }).catch(() => undefined);
  const entry = textIn(status, 'entry');
  if (entry !== '') output.say(`  → its page on the device: ${entry}`);
}

function verdictOf(
  { kind, command, state, startedAt, stoppedAt, error }: Task,
  word: (text: string) => string,
): string {
  const duration =
    stoppedAt === undefined ? '' : word(` after ${formatSpan(stoppedAt - startedAt)}`);
  const outcome = `${word(state)}${duration}`;
  const whole = `${word(command)}${word(': ')}${outcome}`;
  if (error === '') return whole;
  // The task's error begins with what it was to do.
  const what = error.startsWith(`cannot ${kind} `) ? outcome : whole;
  return `${word(error)}${word(' (')}${what}${word(')')}`;
}

/** Ctrl-C leaves the tasks alone: they are the daemon's. */
function farewell({ invocation: { self } }: CommandContext, ids: readonly string[]): string {
  const [first = '', ...others] = ids;
  const what = others.length === 0 ? 'the task goes on' : `${ids.length} tasks go on`;
  const id = shortId(first);
  return `${what}: ${self} log -f ${id} goes on watching, ${self} stop ${id} ends it`;
}

/** The log byte by byte; with -f to the task's end, whose outcome is then the exit code. */
export async function showLog(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  const { id } = await findTask(client, invocation.names[0]);
  if (invocation.given.has('follow')) return (await followAll(context, [id])) === 0 ? 0 : 1;
  for await (const chunk of client.read('admin/system/tasks/log', { task_id: id, offset: '0' })) {
    await output.printLog(chunk);
  }
  return 0;
}

export async function stopTask({ client, output, invocation }: CommandContext): Promise<number> {
  const task = await findTask(client, invocation.names[0]);
  if (!task.isRunning) {
    const ended = output.look.word(task.state);
    output.say(`task ${shortId(task.id)} (${task.command}) has ended already: ${ended}`);
    return 0;
  }
  await client.post('admin/system/tasks/stop', { task_id: task.id });
  const { state } = await fetchTask(client, task.id);
  output.say(
    state === 'stopped'
      ? `task ${shortId(task.id)} (${task.command}) is stopped`
      : `task ${shortId(task.id)} (${task.command}) was asked to stop`,
  );
  return 0;
}
