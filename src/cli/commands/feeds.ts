import { readFile } from 'node:fs/promises';
import { flagIn, listIn, memberIn, numberIn, textIn } from '../answer-fields.ts';
import { printRows, type CommandContext } from '../command-context.ts';
import { formatTime } from '../terminal/table.ts';

/** The command `feeds`: where packages come from. */
export async function listFeeds(context: CommandContext): Promise<number> {
  const feeds = listIn(await context.client.get('admin/store/feeds'), 'feeds');
  return printRows(context, feeds, {
    headings: ['FEED', 'KIND', 'STATE', 'PACKAGES', 'UPDATED', 'URL'],
    rows: feeds.map((feed) => feedRow(feed, context.output.look.word)),
    none: 'there are no feeds',
  });
}

function feedRow(feed: unknown, word: (text: string) => string): string[] {
  const [error, updated] = [textIn(feed, 'error'), numberIn(feed, 'updated_at')];
  return [
    textIn(feed, 'name'),
    textIn(feed, 'kind'),
    stateOf(feed, word),
    String(numberIn(feed, 'packages') ?? ''),
    updated === undefined || updated === 0 ? word('never') : formatTime(updated),
    error === '' ? textIn(feed, 'url') : `${textIn(feed, 'url')}  ${word(error)}`,
  ];
}

function stateOf(feed: unknown, word: (text: string) => string): string {
  if (!flagIn(feed, 'enabled')) return 'off';
  const state = textIn(feed, 'error') === '' ? 'on' : 'error';
  return memberIn(feed, 'upgrades') === false ? word(`${word(state)}, no upgrades`) : state;
}

/** Asks for the change that the words after `feeds` name. @returns the daemon's answer */
export async function changeFeed({ client, invocation }: CommandContext): Promise<unknown> {
  const [action = '', name = '', url = ''] = invocation.names;
  if (action === 'on' || action === 'off') {
    return client.post('admin/store/set_feed', { name, enabled: action === 'on' ? '1' : '0' });
  }
  if (action === 'upgrades' || action === 'no-upgrades') {
    const upgrades = action === 'upgrades' ? '1' : '0';
    return client.post('admin/store/set_feed', { name, upgrades });
  }
  if (action === 'remove') return client.post('admin/store/remove_feed', { name });
  const { keyFile } = invocation;
  const key = keyFile === undefined ? {} : { key: await readFile(keyFile, 'utf8') };
  return client.post('admin/store/add_feed', { name, url, ...key });
}

/** Adds a feed of iStore's catalogue, from its mirrors first. @returns the daemon's answer */
export async function istoreFeed(
  { client }: Pick<CommandContext, 'client'>,
  name: string,
): Promise<unknown> {
  const feeds = listIn(await client.get('admin/store/istore'), 'feeds');
  const feed = feeds.find((each) => textIn(each, 'name') === name);
  const mirror = listIn(feed, 'mirrors').map(String);
  return client.post('admin/store/add_feed', { name, url: textIn(feed, 'url'), mirror });
}
