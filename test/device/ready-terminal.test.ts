import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { prepareRuns } from './command-runs.ts';

const runs = prepareRuns('on a terminal');

test('the terminal is there before go, for the command that comes', async () => {
  const held = await runs.hold(['sh', '-c', '[ -t 1 ]']);

  await expect.poll(() => childOf(held.mark.pid)).toBe('script');

  held.go();
  expect(await held.exited()).toBe('0');
});

/** The name of a process's first child, where the kernel lists children (proc(5)). */
async function childOf(pid: number): Promise<string | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '');
  const [child] = children.split(' ').filter(Boolean);
  if (child === undefined) return undefined;
  return (await readFile(`/proc/${child}/comm`, 'latin1').catch(() => '')).trim();
}
