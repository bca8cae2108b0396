import type * as Files from 'node:fs/promises';
import { expect, test, vi } from 'vitest';

import { isDiskFull } from '../../src/device/disk/disk-full.ts';
import { overwriteFile } from '../../src/device/durable-file.ts';
import { isShortage } from '../../src/device/shortage.ts';
import { DepotError, reasonOf, systemCode } from '../../src/errors.ts';

const failing = { write: 'ENOSPC', close: 'EIO' };

vi.mock('node:fs/promises', async (load) => {
  const fail = (call: 'write' | 'close'): Promise<never> =>
    Promise.reject(Object.assign(new Error(`${failing[call]}, ${call}`), { code: failing[call] }));
  const handle = {
    stat: () => Promise.resolve({ size: 1 }),
    write: () => fail('write'),
    close: () => fail('close'),
    [Symbol.asyncDispose]: () => fail('close'),
  };
  return { ...(await load<typeof Files>()), open: () => Promise.resolve(handle) };
});

test('a write that fails is told of, though the file cannot be closed, either', async () => {
  const error: unknown = await overwriteFile('/any', 'text').catch((thrown: unknown) => thrown);

  expect([reasonOf(error), systemCode(error)]).toEqual(['ENOSPC, write', 'ENOSPC']);
  expect(isDiskFull(error)).toBe(true);
  expect(isDiskFull(new DepotError('internal', 'cannot save it', { cause: error }))).toBe(true);

  failing.write = 'EMFILE';
  expect(await overwriteFile('/any', 'text').catch(isShortage)).toBe(true);
});
