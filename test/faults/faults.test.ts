import { expect, test } from 'vitest';

import { createSearchReport } from '../support/search-run.ts';
import { searchFaults } from './search.ts';

test('no job lies, is lost or leaves anything behind, whatever happens while it runs', async () => {
  const options = {
    tries: 6,
    minutes: Infinity,
    seed: 1,
    out: undefined,
    further: { kind: undefined, workers: '1' },
  };
  const report = createSearchReport('faults', options);

  await searchFaults(report, options);

  expect(report.tries).toBe(6);
  expect(report.findings).toBe(0);
}, 300_000);
