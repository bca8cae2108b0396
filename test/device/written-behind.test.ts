import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { prepareRuns, TERMINALS, type Run } from './command-runs.ts';

describe.each(TERMINALS)('%s', (place) => {
  const runs = prepareRuns(place);

  const linesOf = async (run: Run): Promise<string[]> => {
    run.go();
    await run.exited();
    return (await readFile(run.exitFile, 'utf8')).split('\n').slice(0, 3);
  };

  test('what a command changed is written down behind it, which its exit file says', async () => {
    const folder = join(runs.folder, 'a folder * of two words');
    await mkdir(folder);
    const run = await runs.hold(['sh', '-c', 'echo "$DEPOTD_SYNC"; exit 3'], {}, [folder, '/']);

    expect(await linesOf(run)).toEqual(['3', String(run.mark.pid), 'written']);
    expect((await run.output()).trim()).toBe('');
  });

  test.each([[[]], [['/proc/none']]])('it does not say so of %j', async (paths) => {
    const run = await runs.hold(['sh', '-c', 'exit 0'], {}, paths);

    const [code, pid, third] = await linesOf(run);
    expect([code, pid]).toEqual(['0', String(run.mark.pid)]);
    expect(third).toMatch(/^\.*$/);
  });
});
