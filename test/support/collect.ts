/** All that an asynchronous source gives (Array.fromAsync, which Node 20 has not). */
export async function collect<Item>(source: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of source) items.push(item);
  return items;
}
