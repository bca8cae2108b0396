import { join } from 'node:path';

import { expect, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { filesBelow, readSource, REPOSITORY } from '../source-tree.ts';

const scripts = [...filesBelow('init'), ...filesBelow('packaging')].filter(
  (path) =>
    /^#!\/bin\/sh|-pkg$/.test(`${readSource(path).slice(0, 9)}${path}`) || path.endsWith('-pkg'),
);

test('there are scripts to look at', () => {
  expect(scripts).toEqual(
    expect.arrayContaining([
      'init/depotd.init',
      'init/depotd.sysv',
      'packaging/files/depotd',
      'packaging/openwrt/postrm',
      'packaging/openwrt/prerm-pkg',
    ]),
  );
});

test.each(scripts)("%s is one that the device's shell understands", async (path) => {
  expect(await runCommand(['busybox', 'ash', '-n', join(REPOSITORY, path)])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});
