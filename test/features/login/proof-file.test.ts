import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { createFirstPassword } from '../../../src/features/login/first-password.ts';

test('of several who ask for the proof file at the same time each finds it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-proof-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { file, offer, redeem } = createFirstPassword(folder);

  await Promise.all(Array.from({ length: 8 }, offer));

  expect(redeem((await readFile(file, 'utf8')).trim())).toBe(true);
});
