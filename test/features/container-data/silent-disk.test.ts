import type * as Files from 'node:fs/promises';
import { readdir } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';

import { containerRoutes } from '../../../src/features/container-data/routes.ts';

vi.mock('node:fs/promises', async (load) => {
  const files = await load<typeof Files>();
  return { ...files, readdir: vi.fn(() => new Promise(() => undefined)) };
});

test('container data on a disk that does not answer keeps one thread, however many ask for it', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const inspect = vi.fn(() => new Promise(() => undefined));
  const container = {
    settings: { read: () => Promise.resolve({ path: '/mnt/gone/docker' }) },
    locations: { inspect, system: () => Promise.resolve([]) },
    engine: { serviceManager: () => Promise.reject(new Error('there is none')) },
  };
  const tools = { container, queue: { all: () => [] }, submit: () => undefined };
  const ask = (name: string, params: object): Promise<unknown> => {
    const route = containerRoutes(tools as never).find(({ path }) => path.endsWith(name));
    return Promise.resolve(route?.handle({ params } as never)).catch((error: unknown) => error);
  };

  const target = { path: '/mnt/gone/docker/new' };
  const asked = [
    ask('docker_check_dir', {}),
    ask('docker_check_dir', {}),
    ask('docker_check_migrate', target),
    ask('docker_migrate', target),
  ];
  await vi.advanceTimersByTimeAsync(10_000);

  const refusal = 'cannot look at /mnt/gone/docker: its disk does not answer';
  for (const answer of await Promise.all(asked)) {
    expect(answer).toMatchObject({ code: 'unavailable', message: refusal });
  }
  expect(await ask('docker_check_dir', {})).toMatchObject({ message: refusal });
  expect(readdir).toHaveBeenCalledTimes(1);
  expect(inspect).not.toHaveBeenCalled();
}, 5000);
