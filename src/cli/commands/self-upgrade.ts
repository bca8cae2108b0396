import { DepotError } from '../../errors.ts';
import { textIn } from '../answer-fields.ts';
import type { CommandContext } from '../command-context.ts';
import { submitJobs } from './jobs.ts';

/** Upgrades depotd if there is something newer, and follows that over its end and start. */
export async function upgradeSelf(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  const { given, self } = invocation;
  const isCheckOnly = given.has('check');
  const answer = (await client.get('admin/store/check_self_upgrade')) as { code: number };
  const version = textIn(answer, 'msg');
  if (answer.code === 500 && !given.has('json')) throw new DepotError('internal', version);
  if (isCheckOnly && given.has('json')) await output.printJson(answer);
  else if (answer.code !== 200) {
    output.say(`the lists offer no newer version of depotd; to fetch them: ${self} update`);
  } else if (isCheckOnly) await output.print(`${version}\n`);
  if (answer.code === 500) return 1;
  if (isCheckOnly || answer.code !== 200) return 0;
  output.say(`upgrading depotd to ${version}; the daemon starts again in between`);
  return submitJobs(context);
}
