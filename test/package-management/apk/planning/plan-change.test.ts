import { expect, test } from 'vitest';

import { readPlan } from '../../../../src/package-management/apk/planning/plan-change.ts';

test('a task that 0.1.0 began goes on: its plan says what is fetched', () => {
  const came = { action: 'Installing', name: 'libdemo', to: '1.0-r1' };
  const sent = { action: 'Installing', name: 'hello', to: '1.0-r1' };
  const gone = { action: 'Purging', name: 'former', from: '1.0-r1' };
  const plan = { changes: [came, sent, gone], own: 'hello', purpose: 'install hello' };

  const memory = { transaction: { name: '', plan } };

  expect(readPlan({ memory })).toEqual({ changes: [came, sent, gone], downloads: [came] });
});
