import * as fc from 'fast-check';

import { startDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { property, type FuzzTarget } from '../target.ts';
import { hostileAnswers, startHostileServer, type HostileAnswer } from './answers.ts';
import { rawAnswer } from './raw-answer.ts';
import { NODE_FLAGS, watch } from './watch.ts';

/** What of a forge is never to reach the panel's origin. */
const SPEAKS_FOR_THE_PANEL = new RegExp(
  `^(?:${[
    ...['set-cookie', 'www-authenticate', 'proxy-authenticate', 'refresh', 'clear-site-data'],
    ...['x-luci', 'x-accel', 'x-sendfile', 'x-depotd-key', 'x-forwarded', 'upgrade', 'alt-svc'],
    ...['speculation-rules', 'report', 'nel', 'strict-transport', 'sourcemap', 'service-worker'],
    ...['access-control-allow', 'origin-trial', 'accept-ch'],
  ].join('|')})`,
  'im',
);

const NO_MORE: HostileAnswer = { head: '', body: '', times: 0, end: 'reset' };

const requests = fc.record({
  path: fc.constantFrom('/version', '/repos/o/r/raw/a', '/repos/o/r/contents', '/user/repos'),
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST'),
  header: fc.constantFrom('', 'X-A: b\r\n', 'If-None-Match: "a"\r\n', 'Range: bytes=0-9\r\n'),
});

/** Whatever the forge answers, the daemon is bounded, answers others and keeps its own origin. */
export async function hostileForges(): Promise<FuzzTarget> {
  const server = await startHostileServer();
  const device = await createDevice();
  const daemon = await startDaemon(device, {
    set: [`forge.upstream=${server.url}`, 'forge.expose=all'],
    nodeFlags: NODE_FLAGS,
  });
  const other = watch(daemon);
  const inputs = fc.record({
    answers: fc.array(hostileAnswers, { minLength: 1, maxLength: 3 }),
    asked: fc.array(requests, { minLength: 1, maxLength: 4 }),
  });
  const target = property('hostile forges', 12, {
    inputs,
    check: ({ answers, asked }) =>
      other.during(async () => {
        const queue = answers.values();
        server.answer = () => queue.next().value ?? NO_MORE;
        const heads = Promise.all(asked.map((request) => rawAnswer(daemon.url, request)));
        const found = await heads;
        server.release();
        const spoken = found.find((head) => SPEAKS_FOR_THE_PANEL.test(head));
        return spoken === undefined ? undefined : `the forge speaks for the panel: ${spoken}`;
      }),
  });
  return {
    ...target,
    close: async () => {
      server.close();
      await daemon.close();
      await device.close();
    },
  };
}
