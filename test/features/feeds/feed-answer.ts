import type { TaskStatus, TestDaemon } from '../../device/daemon.ts';
import type { FeedAnswer, FeedItem } from '../../../src/features/feeds/read-feeds.ts';

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

/** What the doctor says of one subject. */
export async function findingOf({ get }: TestDaemon, id: string): Promise<unknown> {
  const { checks } = (await (await get('admin/system/doctor')).json()) as {
    checks: { id: string }[];
  };
  return checks.find((check) => check.id === id);
}
