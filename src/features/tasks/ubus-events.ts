import { existsSync } from 'node:fs';
import { UBUS_SOCKET } from '../../config/environment.ts';
import { sendUbusEvent } from '../../device/ubus/connection.ts';
import type { JobState } from '../../jobs/states.ts';
import type { FeatureContext } from '../feature.ts';

const TIMEOUT_MS = 2000;
/** More than that wait only while ubusd hangs; who listens asks for the state anyway. */
const MOST_WAITING = 200;
const MOST_KNOWN = 5000;

/**
 * `depotd.task {id, state}` on ubus for each change of a task's state, in their order, if there is
 * an ubus. Nothing waits for it, and what cannot be sent is lost.
 */
export function announceTasks({ queue }: Pick<FeatureContext, 'queue'>): void {
  const known = new Map<string, JobState>(queue.all().map(({ id, state }) => [id, state]));
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  queue.onChange(({ id, state }) => {
    if (known.get(id) === state) return;
    known.delete(id);
    known.set(id, state);
    const [oldest] = known.keys();
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    if (waiting >= MOST_WAITING || !existsSync(UBUS_SOCKET)) return;
    waiting += 1;
    const options = { socketPath: UBUS_SOCKET, timeoutMs: TIMEOUT_MS };
    last = last
      .then(() => sendUbusEvent(options, 'depotd.task', { id, state }))
      .catch(() => undefined)
      .finally(() => {
        waiting -= 1;
      });
  });
}
