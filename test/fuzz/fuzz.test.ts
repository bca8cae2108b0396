import { expect, test } from 'vitest';

import { createSearchReport } from '../support/search-run.ts';
import { searchInputs } from './search.ts';

test('no generated input breaks a promise of a parser or of the daemon', async () => {
  const options = {
    tries: 30_000,
    minutes: Infinity,
    seed: 1,
    out: undefined,
    further: { target: undefined, scale: '0.2' },
  };
  const report = createSearchReport('fuzz', options);

  await searchInputs(report, options);

  expect(report.tries).toBeGreaterThan(1000);
  expect(report.findings).toBe(0);
}, 240_000);
