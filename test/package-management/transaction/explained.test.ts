import { expect, test } from 'vitest';

import { explained } from '../../../src/package-management/transaction/explained.ts';

test.each([
  [undefined, 'cannot upgrade demo: it is not there; opkg ended with exit code 3'],
  [true, 'cannot upgrade demo: it is not there'],
])(
  'the exit code is called that of the package manager unless it is of another (%s)',
  async (isForeign, message) => {
    const manager = { name: 'opkg', explain: () => Promise.resolve(undefined) } as never;
    const context = { job: { lastExitCode: 3 }, lastPrinted: () => Promise.resolve('') } as never;
    const shortfall = { reason: 'demo is not there', names: ['demo'], isForeign };

    const error = await explained(manager, context, { purpose: 'upgrade demo', shortfall });

    expect(error.message).toBe(message);
  },
);
