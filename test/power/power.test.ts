import { expect, test } from 'vitest';

import { createSearchReport } from '../support/search-run.ts';
import { searchPowerCuts } from './search.ts';

/** Cuts one run while it installs, and 17 ms behind its end. */
const SEED = 61;

test('no install lies, is lost or leaves anything behind, whenever the power goes', async () => {
  const report = createSearchReport('power', {
    tries: 2,
    minutes: Infinity,
    seed: SEED,
    out: undefined,
    further: {},
  });

  await searchPowerCuts(report, {
    seed: SEED,
    type: 'ext4',
    manager: 'opkg',
    kinds: ['install'],
    cuts: 2,
  });

  expect(report.tries).toBe(2);
  expect(report.findings).toBe(0);
}, 400_000);
