import { expect, test } from 'vitest';

import { startEngine } from '../../../src/features/container-data/engine-control.ts';
import type { ContainerHost } from '../../../src/features/container-data/host.ts';

/** An engine that fails to look at its only container, and starts it if it can. */
function hostWith(fault?: string): { host: ContainerHost; running: string[] } {
  const running: string[] = [];
  const host = {
    engine: {
      state: () => Promise.resolve({ kind: 'answers', dataRoot: '/data' }),
      inspect: () => Promise.resolve('layer does not exist'),
      startContainer: (id: string) => {
        if (fault === undefined) running.push(id);
        return Promise.resolve(fault);
      },
      running: () => Promise.resolve(running.map((id) => ({ id, name: id }))),
    },
    locations: { inspect: (real: string) => Promise.resolve({ real }) },
  };
  return { host: host as unknown as ContainerHost, running };
}

const WANTED = { dataRoot: '/data', containers: [{ id: 'a', name: 'one' }] };
const telling = {
  note: () => Promise.resolve(),
  logFile: '/dev/null',
  lastPrinted: () => Promise.resolve(''),
};

test('a container that the engine fails to look at is started all the same', async () => {
  const { host, running } = hostWith();

  await startEngine(host, WANTED, telling);

  expect(running).toEqual(['a']);
});

test('a container that ends by itself has run, by whatever clock its engine goes', async () => {
  const notes: string[] = [];
  let startedAt = Date.parse('1970-01-01T00:00:10Z');
  const { host } = hostWith();
  Object.assign(host.engine, {
    inspect: () => Promise.resolve({ isRunning: false, startedAt, exitCode: 0 }),
    startContainer: () => Promise.resolve(void (startedAt += 1000)),
    running: () => Promise.resolve([]),
  });

  await startEngine(host, WANTED, {
    ...telling,
    note: (text) => Promise.resolve(void notes.push(text)),
  });

  expect(notes).toContain('one ran, and has ended by itself');
});

test('why it cannot be started is told', async () => {
  await expect(startEngine(hostWith('no layer').host, WANTED, telling)).rejects.toThrow(
    'cannot get the containers running again: one cannot be started: no layer',
  );
});
