import { listIn, textIn } from '../answer.ts';
import type { CommandContext } from '../command-context.ts';

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
