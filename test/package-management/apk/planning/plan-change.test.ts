import { expect, test } from 'vitest';

import { readPlan } from '../../../../src/package-management/apk/planning/plan-change.ts';

const came = { action: 'Installing', name: 'libdemo', to: '1.0-r1' };
const sent = { action: 'Installing', name: 'hello', to: '1.0-r1' };
const gone = { action: 'Purging', name: 'former', from: '1.0-r1' };
const changes = [came, sent, gone];

test.each([
  ['0.1.0', { changes, own: 'hello', purpose: 'install hello' }],
  ['a version that kept only what is fetched', { changes, downloads: [came] }],
])('a task that %s began goes on: its plan says what is fetched', (_, plan) => {
  const memory = { transaction: { name: '', plan } };

  expect(readPlan({ memory })).toEqual({ changes, downloads: [came] });
});
