import { DepotError } from '../../errors.ts';
import { listIn, textIn } from '../answer-fields.ts';
import type { Client } from '../daemon-client.ts';
import type { CommandContext } from '../command-context.ts';
import type { Parameters } from '../http-call.ts';
import { findTask, listTasks, shortId } from '../task.ts';

/** What is asked of the daemon. */
interface Undone {
  operation: 'undo' | 'unrun';
  parameters: Parameters;
}

/**
 * @param name how the id of a task or of an upload's record begins; default: the newest task that
 *   can be undone
 * @throws DepotError not_found
 */
export async function findUndone(client: Client, name: string): Promise<Undone> {
  const tasks = await listTasks(client);
  if (name === '' || name === 'latest') {
    const newest = tasks.find(({ raw }) => raw.can_undo === true);
    if (newest !== undefined) return { operation: 'undo', parameters: { task_id: newest.id } };
    throw new DepotError('not_found', 'cannot find a task that can be undone');
  }
  if (tasks.some(({ id }) => id.startsWith(name))) {
    const { id } = await findTask(client, name);
    return { operation: 'undo', parameters: { task_id: id } };
  }
  return { operation: 'unrun', parameters: { id: await findUpload(client, name) } };
}

/** The id of an upload's record. @throws DepotError not_found; bad_request if several begin so */
async function findUpload(client: Client, start: string): Promise<string> {
  const records = listIn(await client.get('admin/store/run_records'), 'records');
  const ids = records.map((record) => textIn(record, 'id'));
  const [first, second] = ids.filter((id) => id.startsWith(start));
  if (first === undefined) {
    throw new DepotError(
      'not_found',
      `cannot find ${start}: "depotctl jobs" lists tasks, "depotctl uploads" what was sent`,
    );
  }
  if (second !== undefined) {
    const message = `cannot tell which upload ${start} is: ${first}, ${second}`;
    throw new DepotError('bad_request', message);
  }
  return first;
}

/** What was asked for with --confirm stays. */
export async function confirmTask({ client, output, invocation }: CommandContext): Promise<number> {
  const { id, command } = await findTask(client, invocation.names[0]);
  await client.post('admin/store/confirm', { task_id: id });
  output.say(`task ${shortId(id)} (${command}) is confirmed: what it changed stays`);
  return 0;
}
