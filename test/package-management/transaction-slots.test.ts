import * as v from 'valibot';
import { expect, test } from 'vitest';

import { slots } from '../../src/jobs/memory.ts';
import {
  chosen,
  enterTransaction,
  lasting,
  transactionSlots,
} from '../../src/package-management/transaction-slots.ts';

const counted = transactionSlots('the count', { count: v.optional(v.number(), 0) });

test('what a step has left is there for the steps behind it and for the repair', () => {
  const job = { memory: {} };
  enterTransaction(job, '', true);
  chosen.write(job, { names: ['demo'], expected: { demo: '1.0' } });

  enterTransaction(job, '', false);
  expect(chosen.read(job)).toEqual({ names: ['demo'], expected: { demo: '1.0' } });
  lasting.write(job, { isWritten: false });
  expect(chosen.read(job).names).toEqual(['demo']);
  expect(lasting.read(job)).toEqual({ isWritten: false, isRestored: false });
});

test('a transaction begins with nothing of the one before it, whatever its first step is', () => {
  const job = { memory: {} };
  enterTransaction(job, 'install', true);
  chosen.write(job, { names: ['demo'], file: { path: '/tmp/demo.ipk', name: 'demo' } });
  counted.write(job, { count: 3 });

  enterTransaction(job, 'remove', true);
  expect(chosen.find(job)).toBeUndefined();
  expect(counted.read(job)).toEqual({ count: 0 });
  chosen.write(job, { names: ['other'] });
  enterTransaction(job, 'remove', false);
  expect(chosen.read(job)).toEqual({ names: ['other'] });
});

test('a first step that is done again begins anew only once', () => {
  const job = { memory: {} };
  enterTransaction(job, 'install', true);
  counted.write(job, { count: 1 });

  enterTransaction(job, 'install', true);
  expect(counted.read(job)).toEqual({ count: 1 });
});

test('a job of a version that kept these in the memory itself goes on with them', () => {
  const memory = { names: ['demo'], isWritten: false, found: { packages: [] } };
  const job = { memory };
  expect(chosen.read(job)).toEqual({ names: ['demo'] });
  expect(lasting.read(job).isWritten).toBe(false);

  enterTransaction(job, '', false);
  lasting.write(job, { isWritten: true });
  expect(chosen.read(job)).toEqual({ names: ['demo'] });
  expect(lasting.read(job).isWritten).toBe(true);
  expect(job.memory).toMatchObject({ found: { packages: [] } });
});

test('the repair of such a job keeps what it had when it writes something of its own', () => {
  const job = { memory: { names: ['demo'], came: ['demo'] } };
  counted.write(job, { count: 1 });
  expect(chosen.read(job)).toEqual({ names: ['demo'] });
});

test('a value that is damaged counts as absent, and whoever needs it says so', () => {
  const mine = slots('the move', { source: v.string() });
  const job = { memory: { source: 7 } };
  expect(mine.find(job)).toBeUndefined();
  expect(() => mine.read(job)).toThrow('cannot go on: the record of the move is damaged');
});
