import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { HOSTILE_LISTS, paragraph } from '../packages/hostile-lists.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { changesIn, planOf } from './preview-answer.ts';

let store: Store;
beforeAll(async () => {
  const device = { packages: [simplePackage('p0', { version: '0.1' })], hasUsual: false };
  // As the start script has it.
  store = await openStore(device, { nodeFlags: ['--max-old-space-size=64', '--v8-pool-size=1'] });
  await store.run('install', { package: 'p0' });
});
afterAll(() => store.close());

/** What the list of the one feed has is followed by a package that is as it should be. */
async function offer(list: string): Promise<void> {
  const file = join(store.device.root, 'var/opkg-lists/lab');
  await writeFile(file, gzipSync(list + paragraph('plain')));
}

const CASES = Object.entries(HOSTILE_LISTS).map(([shape, entry]) => ({ shape, ...entry }));

test.each(CASES)(
  'a feed does not end the daemon by $shape',
  async ({ list, tooLarge }) => {
    const { daemon } = store;
    const { pid } = daemon;
    await offer(list());

    for (const operation of ['install', 'upgrade']) {
      const { problems, is_possible } = await planOf(daemon, operation, 'p0');
      const found = problems.filter(({ code }) => code === 'plan_too_large');
      expect([operation, found.length]).toEqual([operation, tooLarge ? 1 : 0]);
      if (!tooLarge) continue;
      expect(is_possible).toBe(false);
      expect(found[0]?.message).toMatch(
        /the plan (?:has|takes|leads) more than .* the feed lab says$/,
      );
    }
    await planOf(daemon, 'upgrade');
    expect(changesIn(await planOf(daemon, 'remove', 'p0')).removes).toEqual(['p0 0.1']);
    expect(daemon.pid).toBe(pid);
    expect((await daemon.get('admin/store/installed')).status).toBe(200);
  },
  60_000,
);

test('an upgrade of all that would be planned beyond all bounds fails, and says so', async () => {
  await offer(HOSTILE_LISTS['a mesh of 500']?.list() ?? '');

  expect(await store.run('upgrade', { all: 'true' })).toMatchObject({
    state: 'failed',
    error_code: 'plan_too_large',
  });
}, 60_000);

test('what leads to nothing of it is planned beside it', async () => {
  await offer(HOSTILE_LISTS['200,000 plain packages']?.list() ?? '');

  const plan = await planOf(store.daemon, 'install', 'plain');

  expect(plan).toMatchObject({ is_possible: true, problems: [] });
  expect(changesIn(plan).installs).toEqual(['plain 1']);
}, 60_000);
