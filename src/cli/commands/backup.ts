import { lstat, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DepotError, reasonOf } from '../../errors.ts';
import { flagIn, listIn, numberIn, textIn, textsIn } from '../answer-fields.ts';
import { printRows, type CommandContext } from '../command-context.ts';
import { shortId } from '../task.ts';
import { bytesText, formatTable, formatTime } from '../terminal/table.ts';
import { sendFile, submitJobs } from './jobs.ts';
import { isAsked, mayGoOn } from './plan.ts';

/** `backup [FILE]`: the task, and then what it made as a file that nobody else can read. */
export async function backUp(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  const [file] = invocation.names;
  if (file !== undefined && (await lstat(file).catch(() => undefined)) !== undefined) {
    throw new DepotError('bad_request', `cannot write ${file}: it is there already`);
  }
  if (file !== undefined && (await stat(dirname(file)).catch(() => undefined)) === undefined) {
    throw new DepotError('bad_request', `cannot write ${file}: there is no such folder`);
  }
  const code = await submitJobs({ ...context, invocation: { ...invocation, names: [] } });
  if (code !== 0 || invocation.given.has('detach')) return code;
  const made = listIn(await client.get('admin/store/backups'), 'backups').find(
    (backup) => textIn(backup, 'reason') === 'asked',
  );
  const kept = `it is kept on the device as ${shortId(textIn(made, 'id'))}`;
  if (file === undefined) {
    output.say(`${kept}; "depotctl backups" lists them`);
    return 0;
  }
  const target = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw new DepotError('bad_request', `cannot write ${file}: ${reasonOf(error)}; ${kept}`);
  });
  try {
    for await (const piece of client.read('admin/store/backup_file', { id: textIn(made, 'id') })) {
      await target.writeFile(piece);
    }
    await target.sync();
  } finally {
    await target.close();
  }
  output.say(`${file}: ${bytesText(numberIn(made, 'bytes') ?? 0)}; it holds passwords`);
  return 0;
}

export async function listBackups(context: CommandContext): Promise<number> {
  const backups = listIn(await context.client.get('admin/store/backups'), 'backups');
  return printRows(context, backups, {
    headings: ['BACKUP', 'MADE', 'WHY', 'PACKAGES', 'RELEASE', 'SIZE'],
    rows: backups.map((backup) => [
      shortId(textIn(backup, 'id')),
      formatTime(numberIn(backup, 'made_at') ?? 0),
      textIn(backup, 'reason'),
      String(numberIn(backup, 'packages') ?? ''),
      textIn(backup, 'release'),
      bytesText(numberIn(backup, 'bytes') ?? 0),
    ]),
    none: 'there are no backups',
  });
}

/** `restore FILE|BACKUP`: a file is sent first; then the plan, and the task. */
export async function restore(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  const { as } = invocation.parameters;
  const { id: backup, isNew } = await findBackup(context);
  /** What was sent for the plan alone does not stay. */
  const removeSent = async (): Promise<void> => {
    if (isNew) await client.post('admin/store/remove_backup', { id: backup });
  };
  const query = { operation: 'restore', backup, ...(as === undefined ? {} : { as }) };
  const plan = await client.get('admin/store/plan', query).catch(async (error: unknown) => {
    await removeSent();
    throw error;
  });
  await showPlan(context, plan);
  const isPossible = flagIn(plan, 'is_possible');
  if (invocation.given.has('dry-run') || (isAsked(context) && !isPossible)) {
    await removeSent();
    return isPossible ? 0 : 1;
  }
  if (isAsked(context) && !(await mayGoOn(output, removeSent))) return 1;
  return submitJobs({ ...context, invocation: { ...invocation, names: [backup] } });
}

async function showPlan({ output, invocation }: CommandContext, plan: unknown): Promise<void> {
  if (invocation.given.has('dry-run') && invocation.given.has('json')) await output.printJson(plan);
  if (!invocation.given.has('json')) await printReport(output, plan);
  for (const problem of listIn(plan, 'problems')) output.say(textIn(problem, 'message'));
}

/** What would become of each package, and what else comes. */
async function printReport({ print, say, look }: CommandContext['output'], plan: unknown) {
  const rows = listIn(plan, 'report').map((line) => [
    textIn(line, 'package'),
    textIn(line, 'state') === 'not_offered' ? 'not offered' : textIn(line, 'state'),
    textIn(line, 'as') || look.word(textIn(line, 'message')),
  ]);
  if (rows.length > 0) await print(formatTable(['PACKAGE', 'STATE', ''], rows, look));
  const size = bytesText(numberIn(plan, 'download_bytes') ?? 0);
  const count = textsIn(plan, 'files').length;
  say(`files of the settings that come back: ${count}; to be fetched: ${size}`);
}

/** By the beginning of its id, or by a file, which is added to those on the device. */
async function findBackup(context: CommandContext): Promise<{ id: string; isNew: boolean }> {
  const [name = ''] = context.invocation.names;
  const backups = listIn(await context.client.get('admin/store/backups'), 'backups');
  const ids = backups.map((backup) => textIn(backup, 'id'));
  if (/^[0-9a-f]{4,32}$/.test(name)) {
    const [only, ...others] = ids.filter((id) => id.startsWith(name));
    if (only !== undefined && others.length === 0) return { id: only, isNew: false };
  }
  const id = textIn(await sendFile(context, name, 'add_backup'), 'id');
  return { id, isNew: !ids.includes(id) };
}
