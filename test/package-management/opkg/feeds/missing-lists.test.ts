import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { StepContext } from '../../../../src/jobs/plan.ts';
import { listsSteps } from '../../../../src/package-management/opkg/feeds/missing-lists.ts';
import type { Installation } from '../../../../src/package-management/opkg/installation.ts';

/** What the first step does where the lists cannot be copied ahead of others. */
async function lookForLists(names: readonly string[]): Promise<string[]> {
  const listsDir = join(await mkdtemp(join(tmpdir(), 'depotd-lists-')), 'lists');
  onTestFinished(() => rm(join(listsDir, '..'), { recursive: true }));
  await mkdir(listsDir);
  for (const name of names) await writeFile(join(listsDir, name), 'Package: demo\n');
  const feeds = [{ name: 'lab', url: 'http://127.0.0.1/', isGzip: true }];
  const installation = {
    readConfig: () => Promise.resolve({ feeds, listsDir }),
    prepareFolders: () => Promise.resolve(),
    lockHolder: () => Promise.resolve(undefined),
  } as unknown as Installation;
  const [look] = listsSteps(
    installation,
    {
      lists: { backUp: () => Promise.reject(new Error('no space left on device')) } as never,
      commands: { update: () => ({ argv: ['false'] }) as never },
      wasShutOut: () => Promise.resolve(false),
      refetchNote: () => Promise.resolve('they are old'),
    },
    () => true,
  );
  const notes: string[] = [];
  const note = (text: string): Promise<void> => Promise.resolve(void notes.push(text));
  const context: Pick<StepContext, 'memory' | 'note'> = { memory: {}, note };
  if (look !== undefined && 'act' in look) await look.act(context as StepContext);
  return notes;
}

test('old lists that cannot be kept while others are fetched do for the job', async () => {
  expect((await lookForLists(['lab'])).at(-1)).toBe(
    'cannot keep the package lists while others are fetched: no space left on device',
  );
});

test('where there are none, a job that needs them fails by that', async () => {
  await expect(lookForLists([])).rejects.toThrow('no space left on device');
});
