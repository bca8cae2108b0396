import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createBaseline } from '../../../src/features/fleet/job/baseline.ts';
import { readChangedSettings } from '../../../src/features/fleet/job/changed-settings.ts';
import { settingsSteps } from '../../../src/features/fleet/job/settings-steps.ts';
import { knownByVersion } from '../../../src/package-management/database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
beforeEach(async () => (folder = await temporaryFolder()));
test('packages and files of any name are in the record', async () => {
  const names = ['constructor', 'prototype', '__proto__'];
  const texts = Object.fromEntries(names.map((name) => [name, 'text']));
  const packages = new Map(
    names.map((name) => [name, knownByVersion(name, { version: '1', state: 'installed' })]),
  );
  const baseline = createBaseline(join(folder, 'baseline.json'));
  const content = { packages, configs: texts, changed: texts };
  await baseline.save('k1', content);

  expect(await baseline.read('k1')).toStrictEqual({ key: 'k1', ...content });
});

test('settings of a file of any name are changed', async () => {
  await writeFile(join(folder, 'constructor'), '');
  const work = { settings: { 'constructor.main': 'globals' }, templates: [] };
  const { configs, changed } = await readChangedSettings(
    { paths: { uciDir: folder } } as never,
    work as never,
  );

  expect(configs).toStrictEqual({ constructor: '' });
  expect(changed.constructor).toContain("config globals 'main'");
});

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
