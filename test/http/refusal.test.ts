import { expect, test } from 'vitest';

import { DepotError } from '../../src/errors.ts';
import { refusal } from '../../src/http/respond.ts';

const explanation = { code: 'damaged_database', remedy: 'Restore it.' };

test('a refusal with a known cause has its code and remedy beside what it always has', async () => {
  const error = new DepotError('unavailable', 'cannot install', { explanation });

  expect(await refusal(error, { isTask: true }).json()).toEqual({
    code: 503,
    msg: 'cannot install',
    stdout: '',
    stderr: 'cannot install',
    error_code: 'damaged_database',
    remedy: 'Restore it.',
  });
});

test.each([new DepotError('unavailable', 'cannot install'), new Error('a secret')])(
  'any other refusal (%s) has neither',
  async (error) => {
    expect(Object.keys((await refusal(error, { isTask: false }).json()) as object)).toEqual([
      'code',
      'msg',
    ]);
  },
);

test.each([
  ['ENOSPC', 507, 'cannot answer: the disk is full'],
  ['EDQUOT', 507, 'cannot answer: the disk is full'],
  ['EROFS', 503, 'cannot answer: the disk is mounted read-only'],
  ['EMFILE', 503, 'cannot answer: there are no file descriptors left'],
  ['ENFILE', 503, 'cannot answer: there are no file descriptors left'],
  ['ENOMEM', 503, 'cannot answer: there is no memory left'],
])('what the device lacks (%s) is told as such, and not as a fault', async (code, status, msg) => {
  const cause = Object.assign(new Error(`${code}: a secret`), { code });

  const answer = refusal(new Error('a secret', { cause }), { isTask: false });

  expect(answer.status).toBe(status);
  expect(await answer.json()).toEqual({ code: status, msg });
});
