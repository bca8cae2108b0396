import { expect, onTestFinished, test } from 'vitest';

import type { ContainerHost } from '../../../src/features/container-data/host.ts';
import { move } from '../../../src/features/container-data/move-record.ts';
import { moveRepair } from '../../../src/features/container-data/move-rollback.ts';
import { plainAct } from '../../../src/jobs/plan.ts';
import { openQueue, request } from '../../jobs/open-queue.ts';
import { ended, submitTo } from '../../jobs/queue-of-test.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test.each([true, false])(
  'the configuration stays where the engine can neither be made to leave nor be started, with a log that can be written: %s',
  async (canNote) => {
    let path = '/new';
    const host = {
      engine: { state: () => Promise.reject(new Error('it says nothing')) },
      locations: { inspect: (real: string) => Promise.resolve({ real }) },
      settings: {
        read: () => Promise.resolve({ path }),
        restore: () => Promise.resolve((path = '/old')),
      },
    } as unknown as ContainerHost;
    const setting = { path: '/old', file: '/etc/config/dockerd', kind: 'uci' as const };
    const begin = plainAct('begin', 'begin', (context) => {
      const running = { hasRun: true, isStopping: true, containers: [] };
      move.write(context, { setting, source: '/old', ...running });
      return Promise.resolve(undefined);
    });
    const { queue, journal, logs } = await openQueue(await temporaryFolder(), {
      changePlan: ({ steps }) => ({
        steps: [begin, ...steps],
        repair: moveRepair(host, '/new', { isCopy: false }),
      }),
    });
    onTestFinished(() => journal.close());
    const stuck = 'it says nothing; it stays at /new';
    const { append } = logs;
    logs.append = (id, text) =>
      canNote || !text.includes(stuck) ? append(id, text) : Promise.reject(new Error('full'));

    const { id, error } = await ended(await submitTo(queue, request('a', { 1: 'exit 1' })));

    expect(path).toBe('/new');
    expect(error).toMatch(/the repair failed: it says nothing$/);
    const log = (await logs.read(id, 0, 10_000)).toString();
    expect(canNote ? log : error).toContain(stuck);
    expect(log).toContain('the container engine is not as it was');
  },
);
