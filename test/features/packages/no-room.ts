import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished } from 'vitest';

import { runCommand } from '../../device/command.ts';
import type { TestDaemon } from '../../device/daemon.ts';
import type { StoreActions } from './store-actions.ts';

/** An empty folder on a disk of its own, until the test is over. */
export async function mountedFolder(sizeMiB: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-small-'));
  // Behind the disk: what is registered last is undone first.
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mountDisk(folder, sizeMiB);
  return folder;
}

/** Puts a disk upon a folder until the test is over. */
export async function mountDisk(folder: string, sizeMiB: number): Promise<void> {
  const options = `mode=755,size=${sizeMiB}m`;
  await runCommand(['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  onTestFinished(async () => {
    await runCommand(['umount', '-l', folder]);
  });
}

/** The plan and the job refuse the package for the same reason, with the same figures. */
export async function expectNoRoom(
  { daemon, run }: StoreActions & { daemon: TestDaemon },
  name: string,
  reason: RegExp,
): Promise<void> {
  const message = expect.stringMatching(reason) as string;
  const answer = await daemon.get(`admin/store/plan?operation=install&package=${name}`);
  expect(await answer.json()).toMatchObject({
    is_possible: false,
    problems: [{ code: 'no_space', message }],
  });
  const { state, error, error_code } = await run('install', { package: name });
  expect([state, error_code, error]).toEqual(['failed', 'no_space', message]);
}
