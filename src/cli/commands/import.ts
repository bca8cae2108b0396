import { flagIn, listIn, numberIn, textIn } from '../answer-fields.ts';
import type { CommandContext } from '../command-context.ts';
import { ask } from '../terminal/ask.ts';
import { submitEach } from './jobs.ts';

/** `import istore`: what iStore left counts already; its feeds are added if the owner says so. */
export async function importIstore(context: CommandContext): Promise<number> {
  const { client, output, invocation } = context;
  const legacy = await client.get('admin/store/istore');
  if (invocation.given.has('json') && !invocation.given.has('yes')) {
    await output.printJson(legacy);
    return 0;
  }
  if (!flagIn(legacy, 'seen')) {
    output.say('iStore is not installed here');
    return 1;
  }
  const feeds = listIn(legacy, 'feeds');
  const missing = feeds.filter((feed) => !flagIn(feed, 'is_there'));
  const folder = textIn(legacy, 'last_path');
  const { self } = invocation;
  const records = numberIn(legacy, 'records') ?? 0;
  output.say(`uploads that iStore recorded: ${records}; "${self} uploads" lists them, too`);
  if (folder !== '') output.say(`the folder that was chosen last: ${folder}`);
  if (feeds.length === 0) {
    output.say(
      'its feeds are not known: let iStore update its lists (is-opkg update), and ask again',
    );
    return 1;
  }
  if (missing.length === 0) {
    output.say('its feeds are here already');
    return 0;
  }
  for (const feed of missing) {
    const addresses = [...listIn(feed, 'mirrors'), textIn(feed, 'url')].join(', ');
    output.say(`its feed ${textIn(feed, 'name')}: ${addresses}`);
  }
  output.say(trustText(legacy));
  if (!invocation.given.has('yes') && !(await agrees(context))) return 0;
  const names = missing.map((feed) => textIn(feed, 'name'));
  return submitEach(context, names);
}

function trustText(legacy: unknown): string {
  return flagIn(legacy, 'checks_signatures')
    ? 'This device checks signatures, which iStore does not for its own feeds: one that is not ' +
        'signed by a key of this device is refused. Whoever runs them may do anything on it.'
    : 'This device checks no signatures: whoever runs these feeds, or stands on the way to them, ' +
        'may do anything on it.';
}

async function agrees({ output, invocation: { self } }: CommandContext): Promise<boolean> {
  if (!output.isInteractive) {
    output.say(`nothing is added; to add them: ${self} import istore --yes`);
    return false;
  }
  return ask(output.look.word('Add them? [y/N] '), () => undefined, { isEnterYes: false });
}
