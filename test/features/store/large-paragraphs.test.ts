import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paragraph } from '../packages/hostile-lists.ts';
import { openStore, type Store } from '../packages/open-store.ts';

let store: Store;
beforeAll(async () => {
  // As the start script has it.
  store = await openStore({}, { nodeFlags: ['--max-old-space-size=64', '--v8-pool-size=1'] });
});
afterAll(() => store.close());

/** As long as a paragraph can be; a short piece of it must not keep the whole. */
const LONG = 'x y, '.repeat(50_000);

test.each([
  ['its section', (index: number) => paragraph(`p${index}`, { Section: `of its own, ${index}` })],
  ['the title of an app', (index: number) => paragraph(`app-meta-a${index}`, TITLE_ALONE)],
])(
  'of a paragraph of 250 kB a list keeps %s alone',
  async (_, make) => {
    const list = Array.from({ length: 240 }, (_entry, index) =>
      make(index).replace('Filename', `Filler: ${LONG}\nFilename`),
    );
    const file = join(store.device.root, 'var/opkg-lists/lab');
    await writeFile(file, gzipSync(list.join('')));

    const answer = await store.daemon.get('admin/store/available?kind=all');

    // And libc, which is installed.
    expect(await answer.json()).toMatchObject({ total: 241 });
  },
  60_000,
);

const TITLE_ALONE = { Depends: 'p0', Description: 'A title', Section: 'apps and programs' };
