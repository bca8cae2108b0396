import { expect, onTestFinished, test } from 'vitest';

import { createAgent, type Agent } from '../../../src/features/fleet/agent/agent.ts';
import { createKnown, type Fleet, type Known } from '../../../src/features/fleet/agent/fleet.ts';
import { createLog } from '../../../src/log.ts';

interface World {
  agent: Agent;
  known: Known;
  /** An exchange has begun. */
  connecting: Promise<void>;
  /** Ends the exchange under way, which cannot reach the server. */
  breakOff: () => void;
  /** Puts the note that is being written in place. */
  finishWriting: () => void;
}

/** An agent whose server and notes answer when they are told to. */
function openAgent(): World {
  const known = createKnown();
  let begun = (): void => undefined;
  const connecting = new Promise<void>((resolve) => (begun = resolve));
  let breakOff = (): void => undefined;
  let finishWriting = (): void => undefined;
  let note: unknown;
  const fleet: Pick<Fleet, 'known' | 'settings' | 'log' | 'notes' | 'records' | 'connect'> = {
    known,
    settings: () => ({ server: 'http://fleet.test', interval_max_s: 3600 }) as never,
    log: createLog('silent'),
    records: { all: () => [] } as never,
    connect: () =>
      new Promise((_, reject) => {
        breakOff = () => reject(new Error('not reachable'));
        begun();
      }),
    notes: {
      read: () => Promise.resolve(note),
      write: (_, value) =>
        new Promise((resolve) => {
          finishWriting = () => {
            note = value;
            resolve();
          };
        }),
    },
  };
  const agent = createAgent(fleet as Fleet, () => 0.5);
  onTestFinished(() => agent.close());
  return {
    agent,
    known,
    connecting,
    breakOff: () => breakOff(),
    finishWriting: () => finishWriting(),
  };
}

test('who is switched off while the configuration is read again stays off', async () => {
  const { agent, finishWriting } = openAgent();
  await agent.start();

  const switched = agent.switchTo(false);
  await agent.reload();
  finishWriting();
  await switched;

  expect(agent.isOn()).toBe(false);
});

test('the poll that a reload plans is not put off by the end of an exchange from before it', async () => {
  const { agent, known, breakOff, connecting } = openAgent();
  await agent.start();
  const before = agent.pollNow();
  await connecting;
  await agent.reload();
  const planned = known.nextPollMs;

  breakOff();
  await before;

  expect([known.failures, known.nextPollMs]).toEqual([1, planned]);
});
