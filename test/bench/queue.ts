import { writeFile } from 'node:fs/promises';
import type { TestDaemon, TaskStatus } from '../device/daemon.ts';
import { report, residentMb, timed } from './measures.ts';

/**
 * Many installs queued at once: how fast they are accepted, whether they run in order, what they
 * cost.
 */
export async function benchQueue(daemon: TestDaemon, count: number): Promise<void> {
  const token = await daemon.token();
  const names = Array.from(
    { length: count },
    (_, index) => `tiny-${String(index + 1).padStart(String(count).length, '0')}`,
  );
  const before = residentMb(daemon.pid);
  // Sets the peak back to what is resident now (proc(5), clear_refs).
  await writeFile(`/proc/${daemon.pid}/clear_refs`, '5');
  const accept = async (name: string): Promise<string> => {
    const answer = (await (
      await daemon.post('admin/store/install', { package: name, token })
    ).json()) as { task_id: string };
    return answer.task_id;
  };
  const { value: ids, ms: acceptedMs } = await timed(() => acceptAll(names, accept));
  const grown = residentMb(daemon.pid) - before;
  // One waits, for the last: a thousand who ask would cost the daemon more than the jobs do.
  const { ms: doneMs } = await timed(() => daemon.finished(ids.at(-1) ?? '', 1_200_000));
  const all = (await (await daemon.get('admin/system/tasks/status')).json()) as Record<
    string,
    TaskStatus
  >;
  const wanted = new Set(ids);
  const states = Object.entries(all).filter(([id]) => wanted.has(id));
  const done = states.filter(([, { state }]) => state === 'done').length;
  const isInOrder = states.every(
    ([, { start }], index) => index === 0 || start >= (states[index - 1]?.[1].start ?? 0),
  );
  report('installs queued', {
    accepted: ids.length,
    'accepted in ms': acceptedMs,
    done,
    'in order': String(isInOrder),
    's in all': doneMs / 1000,
    'memory grown MB (accepted)': grown,
    'MB (done)': residentMb(daemon.pid) - before,
    'MB (peak)': residentMb(daemon.pid, 'VmHWM') - before,
  });
}

/** Eight clients at a time, as fast as they are answered. */
async function acceptAll(
  names: readonly string[],
  accept: (name: string) => Promise<string>,
): Promise<string[]> {
  const waiting = [...names];
  const ids: string[] = [];
  const client = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      ids.push(await accept(name));
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return ids;
}
