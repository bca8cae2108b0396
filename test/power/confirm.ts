import { setTimeout as delay } from 'node:timers/promises';

import { versionOf } from './device.ts';
import type { Kind } from './kinds.ts';
import { APP, LIBRARY } from './packages.ts';

const CONFIRM_S = 30;
const LATE_S = 30;

/** An upgrade that its owner does not confirm: it goes back by itself, also after a boot. */
export const CONFIRM: Kind = {
  before: [(daemon) => daemon.submit('install', { package: APP })],
  feed: 2,
  job: async (daemon) => {
    await daemon.finished(await daemon.submit('update'), 90_000);
    return daemon.submit('upgrade', { package: APP, confirm_s: String(CONFIRM_S) });
  },
  expected: { [APP]: 1, [LIBRARY]: 1 },
  look: async (daemon) => {
    const deadline = performance.now() + (CONFIRM_S + LATE_S) * 1000;
    while ((await versionOf(APP)) !== 1) {
      if (performance.now() > deadline) {
        const tasks = await (await daemon.get('admin/system/tasks/status')).text();
        return [`nobody confirmed the upgrade, and it is there: ${tasks.slice(-1500)}`];
      }
      await delay(500);
    }
    return [];
  },
};
