import type { CommandContext } from '../command-context.ts';

/** `hold` and `release`: done at once, no task. */
export async function holdOrRelease(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  const { command, names, given } = invocation;
  for (const name of names) {
    const answer = await client.post(`admin/store/${command}`, { package: name });
    if (given.has('json')) await output.printJson(answer);
    else output.say(command === 'hold' ? `${name} is held` : `${name} is not held`);
  }
  return 0;
}
