import { expect, test } from 'vitest';

import { createSearchReport } from '../support/search-run.ts';
import { searchPowerCuts } from './search.ts';

test('no install lies, is lost or leaves anything behind, whenever the power goes', async () => {
  const report = createSearchReport('power', {
    tries: 3,
    minutes: Infinity,
    seed: 11,
    out: undefined,
    further: {},
  });

  await searchPowerCuts(report, {
    seed: 11,
    type: 'ext4',
    manager: 'opkg',
    kinds: ['install'],
    cuts: 3,
  });

  expect(report.tries).toBe(3);
  expect(report.findings).toBe(0);
}, 400_000);
