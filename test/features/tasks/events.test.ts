import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { followTask } from '../../../src/features/tasks/follow-task.ts';
import type { TaskLogs } from '../../../src/jobs/task-logs.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { openEvents, type EventReader, type ReceivedEvent } from '../../support/event-reader.ts';
import { openStore, type Store } from '../packages/open-store.ts';

let store: Store;

/** Characters of one to four bytes. */
const TEXT = 'aä€😀\n';

/** Prints the text byte by byte, so that a reader finds it cut at every one. */
const POSTINST = `#!/bin/sh
for round in 1 2; do
${[...Buffer.from(TEXT)].map((byte) => `printf '\\${byte.toString(8).padStart(3, '0')}'; sleep 0.04`).join('\n')}
done
printf '\\377\\n'
`;

beforeAll(async () => {
  store = await openStore({
    packages: [simplePackage('letters', { scripts: { postinst: POSTINST } })],
  });
});

afterAll(() => store.close());

function follow(
  task: string,
  { offset, lastId }: { offset?: number; lastId?: string } = {},
): Promise<EventReader> {
  const query = `task_id=${task}${offset === undefined ? '' : `&offset=${offset}`}`;
  return openEvents(
    `${store.daemon.url}${store.daemon.base}/admin/system/tasks/events?${query}`,
    lastId === undefined ? {} : { lastEventId: lastId },
  );
}

const textOf = (events: readonly ReceivedEvent[]): string =>
  events
    .filter(({ event }) => event === 'log')
    .map(({ data }) => data)
    .join('');

async function reinstall(): Promise<string> {
  if ((await store.statusOf('letters')).installed === true) {
    await store.run('remove', { package: 'letters' });
  }
  return store.daemon.submit('install', { package: 'letters' });
}

test('who follows a task from its begin gets its whole log, its states, and its end', async () => {
  const task = await reinstall();

  const events = await (await follow(task)).rest();

  const log = await store.daemon.logOf(task);
  expect(log).toContain(TEXT.trim());
  expect(textOf(events)).toBe(log);
  expect(events.at(0)?.event).toBe('status');
  expect(events.at(-1)).toMatchObject({
    event: 'end',
    data: { running: false, state: 'done', exit_code: 0 },
  });
  expect(events.filter(({ event }) => event === 'end')).toHaveLength(1);
});

test('the id of each piece of log is the offset behind it, and no piece cuts a character', async () => {
  const task = await reinstall();
  const events = (await (await follow(task)).rest()).filter(({ event }) => event === 'log');
  expect(events.length).toBeGreaterThan(3);

  let offset = 0;
  for (const { id, data } of events.slice(0, -1)) {
    offset += Buffer.byteLength(String(data));
    expect(id).toBe(String(offset));
    expect(data).not.toContain('\uFFFD');
  }
});

test('who loses the connection after every event and comes back with the last id misses nothing and gets nothing twice', async () => {
  const task = await reinstall();
  const pieces: ReceivedEvent[] = [];
  let lastId: string | undefined;
  for (let isOver = false; !isOver;) {
    const reader = await follow(task, lastId === undefined ? {} : { lastId });
    for (let event = await reader.next(); event !== undefined; event = await reader.next()) {
      if (event.event === 'end') isOver = true;
      if (event.event !== 'log') continue;
      pieces.push(event);
      lastId = event.id;
      break;
    }
    reader.close();
  }

  expect(pieces.length).toBeGreaterThan(3);
  expect(textOf(pieces)).toBe(await store.daemon.logOf(task));
});

test('after its end a log is had again from every character, by offset and by id', async () => {
  const task = await reinstall();
  await store.daemon.finished(task);
  const log = await store.daemon.logOf(task);
  // A byte that is no character stands for itself in the log, and for three in its text.
  const [from, to] = [log.indexOf(TEXT.charAt(0)), log.indexOf('\uFFFD')];

  for (let at = from; at < to; at += 1) {
    if (/[\uDC00-\uDFFF]/.test(log.charAt(at))) continue;
    const offset = Buffer.byteLength(log.slice(0, at));
    expect(textOf(await (await follow(task, { offset })).rest())).toBe(log.slice(at));
    expect(textOf(await (await follow(task, { offset: 0, lastId: String(offset) })).rest())).toBe(
      log.slice(at),
    );
  }
});

test('the log in bytes is had from every offset', async () => {
  const { id } = await store.run('remove', { package: 'letters' });
  const read = (offset: number): Promise<Response> =>
    store.daemon.get(`admin/system/tasks/log?task_id=${id}&offset=${offset}`);
  const whole = Buffer.from(await (await read(0)).arrayBuffer());
  expect((await read(0)).headers.get('content-type')).toBe('application/octet-stream');

  for (const offset of [1, 7, whole.length - 1]) {
    expect(
      Buffer.from(await (await read(offset)).arrayBuffer()).equals(whole.subarray(offset)),
    ).toBe(true);
  }
  expect((await read(whole.length)).status).toBe(204);
  expect((await read(whole.length + 1)).status).toBe(205);
  expect((await store.daemon.get('admin/system/tasks/log?task_id=nobody')).status).toBe(404);
});

test('a task that nobody knows has no events, and its status says so', async () => {
  expect((await store.daemon.get('admin/system/tasks/events?task_id=nobody')).status).toBe(404);
  expect(await store.daemon.status('nobody')).toEqual({
    running: false,
    exit_code: 404,
    is_unknown: true,
  });
});

test('who follows the device sees each job come, run and end', async () => {
  const reader = await openEvents(`${store.daemon.url}${store.daemon.base}/admin/system/events`);
  const { id } = await store.run('install', { package: 'virt' });

  const states = new Set<unknown>();
  while (!states.has('done')) {
    const { event, data } = (await reader.next()) ?? {};
    expect(event).toBe('job');
    const job = data as { task_id: string; state: string };
    // The end of another test's job may be told only now.
    if (job.task_id !== id) continue;
    expect(job).toMatchObject({ kind: 'install', package: 'virt' });
    states.add(job.state);
  }

  reader.close();
  expect([...states].slice(-2)).toEqual(['running', 'done']);
});

test('a quiet task gives a sign of life every 15 s, though timers come early and wakes say nothing', async () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  // Every other wait is woken by something else than the time.
  let waits = 0;
  const logs = {
    size: () => Promise.resolve(undefined),
    waitForMore: (_id: string, { timeoutMs }: { timeoutMs: number }) => {
      waits += 1;
      if (waits > 100) throw new Error('it says nothing');
      now += waits % 2 === 0 ? 4000 : Math.max(1, timeoutMs - 0.7);
      return Promise.resolve();
    },
  } as unknown as TaskLogs;
  const events = followTask({
    ...{ logs, id: 'a', from: 0, signal: new AbortController().signal },
    statusOf: () => Promise.resolve({ state: 'running' }),
    hasEnded: () => false,
  });

  expect((await events.next()).value).toMatchObject({ event: 'status' });
  for (let signs = 0, last = now; signs < 10; signs += 1, last = now) {
    expect((await events.next()).value).toBeUndefined();
    expect(now - last).toBeGreaterThanOrEqual(15_000);
    expect(now - last).toBeLessThan(20_000);
  }
  await events.return(undefined);
});
