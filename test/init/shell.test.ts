import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

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

test.each(['depotd', 'depotctl'])(
  '%s has Node read further certificates only where they are there',
  async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'depotd-launcher-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'node'), '#!/bin/sh\necho "${NODE_EXTRA_CA_CERTS-none}"\n', {
      mode: 0o755,
    });
    const run = async (certificates: string): Promise<string> => {
      const env = { PATH: `${folder}:/usr/bin:/bin`, NODE_EXTRA_CA_CERTS: certificates };
      return (await runCommand([join(REPOSITORY, 'packaging/files', name)], { env })).stdout;
    };

    expect(await run('/nonexistent/ca-certificates.crt')).toBe('none\n');
    expect(await run(join(folder, 'node'))).toBe(`${join(folder, 'node')}\n`);
  },
);
