import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { TaskStatus, TestDaemon } from '../../device/daemon.ts';
import type { FeedAnswer, FeedItem } from '../../../src/features/feeds/documentation.ts';

export async function feedsOf(daemon: TestDaemon): Promise<FeedAnswer> {
  return (await (await daemon.get('admin/store/feeds')).json()) as FeedAnswer;
}

export async function feedOf(daemon: TestDaemon, name: string): Promise<FeedItem | undefined> {
  return (await feedsOf(daemon)).feeds.find((feed) => feed.name === name);
}

/** Does an operation, and waits for the end of its task. */
export async function change(
  daemon: TestDaemon,
  operation: string,
  params: Readonly<Record<string, string>>,
): Promise<TaskStatus & { error_code?: string }> {
  return daemon.finished(await daemon.submit(operation, params));
}

/** Of what tasks fetch nothing stays; what they kept for undo goes behind their end. */
export async function expectNothingLeft({ root }: { root: string }): Promise<void> {
  await expect.poll(() => readdir(join(root, 'tmp/depotd'))).toEqual([]);
}

/** Of what tasks fetch nothing stays there, and of what they replaced what can be put back. */
export async function expectOnlyUndo({ get }: TestDaemon, folder: string): Promise<void> {
  expect(['', 'undo']).toContain((await readdir(folder)).join());
  const answer = await (await get('admin/system/tasks/status')).json();
  const tasks = Object.entries(answer as Record<string, { can_undo?: boolean; kept_in?: string }>);
  const kept = tasks.filter(([, task]) => task.can_undo === true && task.kept_in !== undefined);
  const copies = async (): Promise<string[]> =>
    (await readdir(join(folder, 'undo')).catch(() => [])).sort();
  await expect.poll(copies).toEqual(kept.map(([id]) => id).sort());
}

/** What the doctor says of one subject. */
export async function findingOf({ get }: TestDaemon, id: string): Promise<unknown> {
  const { checks } = (await (await get('admin/system/doctor')).json()) as {
    checks: { id: string }[];
  };
  return checks.find((check) => check.id === id);
}
