import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Names feeds in opkg's configuration, so that lists of these names count. */
export async function nameFeeds(root: string, names: readonly string[]): Promise<void> {
  const lines = names.map((name) => `src/gz ${name} http://127.0.0.1:9/${name}\n`);
  await writeFile(join(root, 'etc/opkg/further.conf'), lines.join(''));
}
