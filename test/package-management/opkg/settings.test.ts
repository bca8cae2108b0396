import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { bundledProgram } from '../../support/bundled-program.ts';

test('settings of opkg that cannot be read for lack of descriptors are read when there are some', async () => {
  const root = await mkdtemp(join(tmpdir(), 'depotd-settings-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const source = join(import.meta.dirname, 'settings-without-descriptors.ts');

  const { stdout } = await runCommand(['node', await bundledProgram(source), root]);

  expect(JSON.parse(stdout)).toEqual({
    meanwhile: expect.stringContaining('EMFILE') as string,
    after: true,
  });
});
