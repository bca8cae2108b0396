import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

import { createFirstPassword } from '../../../src/features/login/first-password.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('of several who ask for the proof file at the same time each finds it', async () => {
  const folder = await temporaryFolder();
  const { file, offer, redeem } = createFirstPassword(folder);

  await Promise.all(Array.from({ length: 8 }, offer));

  expect(redeem((await readFile(file, 'utf8')).trim())).toBe(true);
});
