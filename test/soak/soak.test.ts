import { expect, test } from 'vitest';

import { createSearchReport } from '../support/search-run.ts';
import { soak } from './search.ts';

test('mixed work leaves no descriptor open and breaks nothing off', async () => {
  const options = { tries: Infinity, minutes: 0.1, seed: 1, out: undefined, further: {} };
  const report = createSearchReport('soak', options);

  await soak(report, options);

  expect(report.tries).toBeGreaterThan(40);
  expect(report.findings).toBe(0);
});
