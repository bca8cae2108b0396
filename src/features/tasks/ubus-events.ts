import { existsSync } from 'node:fs';
import { UBUS_SOCKET } from '../../config/environment.ts';
import { sendUbusEvent } from '../../device/ubus/connection.ts';
import type { Job } from '../../jobs/job.ts';

const TIMEOUT_MS = 2000;
/** More than that wait only while ubusd hangs; who listens asks for the state anyway. */
const MOST_WAITING = 200;

/**
 * `depotd.task {id, state}` on ubus, in order. Nothing waits for it; what cannot be sent is lost.
 */
export function createAnnouncer(): (job: Pick<Job, 'id' | 'state'>) => void {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  return ({ id, state }) => {
    if (waiting >= MOST_WAITING || !existsSync(UBUS_SOCKET)) return;
    waiting += 1;
    const options = { socketPath: UBUS_SOCKET, timeoutMs: TIMEOUT_MS };
    last = last
      .then(() => sendUbusEvent(options, 'depotd.task', { id, state }))
      .catch(() => undefined)
      .finally(() => {
        waiting -= 1;
      });
  };
}
