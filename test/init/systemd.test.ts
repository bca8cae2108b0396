import { expect, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { createStage } from './stage.ts';

const UNITS = ['depotd.service', 'depotd-resume.service'];
/** Tenths; without any hardening a unit has 96. What the work needs is said in the unit. */
const MOST_EXPOSURE = 60;

test('systemd finds nothing wrong with the units', async () => {
  const stage = await createStage();
  for (const program of [
    'usr/sbin/depotd',
    'usr/lib/depotd/reload',
    'usr/lib/depotd/resume-self-upgrade',
  ]) {
    await stage.write(program, '#!/bin/sh\n', 0o755);
  }
  const paths = await Promise.all(UNITS.map((unit) => stage.lay(`init/${unit}`, unit)));
  await Promise.all(
    paths.map(async (path, index) =>
      stage.write(UNITS[index] ?? '', await stage.read(path.slice(stage.root.length)), 0o644),
    ),
  );

  expect(await runCommand(['systemd-analyze', 'verify', '--man=no', ...paths])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

test.each(UNITS)(
  '%s is hardened as far as package scripts and copies of container data allow',
  async (unit) => {
    const stage = await createStage();
    const path = await stage.lay(`init/${unit}`, unit);
    const { code, stdout } = await runCommand([
      'systemd-analyze',
      'security',
      '--offline=true',
      `--threshold=${MOST_EXPOSURE}`,
      '--no-pager',
      path,
    ]);
    expect(stdout).toContain(`Overall exposure level for ${unit}`);
    expect(code).toBe(0);
  },
);
