import { DepotError } from '../../errors.ts';
import type { Client } from '../daemon-client.ts';
import type { CommandContext } from '../command-context.ts';
import type { Parameters } from '../http-call.ts';
import { findTask, listTasks, shortId } from '../task.ts';
import { findUpload } from '../upload-records.ts';

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

/** What was asked for with --confirm stays. */
export async function confirmTask({ client, output, invocation }: CommandContext): Promise<number> {
  const { id, command } = await findTask(client, invocation.names[0]);
  await client.post('admin/store/confirm', { task_id: id });
  output.say(`task ${shortId(id)} (${command}) is confirmed: what it changed stays`);
  return 0;
}
