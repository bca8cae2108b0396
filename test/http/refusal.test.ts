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
