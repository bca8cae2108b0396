import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createBaseline } from '../../../src/features/fleet/job/baseline.ts';
import { settingsSteps } from '../../../src/features/fleet/job/settings-steps.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
beforeEach(async () => (folder = await temporaryFolder()));
test.each([
  ['of a daemon that did not note it', '{"key":"k1","packages":{},"configs":{}}'],
  ['of another action', '{"key":"k0","packages":{},"configs":{},"changed":{}}'],
])(
  'settings whose check is not on record (%s) are told as failed, not as set',
  async (_, content) => {
    const file = join(folder, 'baseline.json');
    await writeFile(file, content);
    const tools = { baseline: createBaseline(file) };
    const task = { work: { settings: { 'system.@system[0].hostname': 'x' } }, key: 'k1' };

    const [step] = settingsSteps(tools as never, task as never);
    if (step === undefined || !('act' in step)) throw new Error('sets nothing');

    await expect(step.act({} as never)).rejects.toThrow(
      'cannot set options: what the check found is not on record',
    );
  },
);
