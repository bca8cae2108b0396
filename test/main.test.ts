import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { startDaemon } from './device/daemon.ts';
import { createDevice } from './device/device.ts';
import { simplePackage } from './device/packages/package-parts.ts';

test('a daemon that is told to stop in the moment it listens ends in order', async () => {
  const device = await createDevice();
  try {
    for (let round = 0; round < 5; round += 1) {
      const daemon = await startDaemon(device);
      expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    }
  } finally {
    await device.close();
  }
});

test.each(['0', '077'])(
  'started with the umask %s, what packages and the package manager write has the usual mode',
  async (mask) => {
    const postinst = '#!/bin/sh\necho x >"${IPKG_INSTROOT}/etc/made"\n';
    const device = await createDevice({
      packages: [simplePackage('maker', { scripts: { postinst } })],
    });
    onTestFinished(device.close);
    const started = `import{umask}from'node:process';umask(0o${mask})`;
    const daemon = await startDaemon(device, {
      nodeFlags: [`--import=data:text/javascript,${started}`],
    });
    onTestFinished(daemon.close);
    await daemon.finished(await daemon.submit('update'));
    await daemon.finished(await daemon.submit('install', { package: 'maker' }));

    for (const file of ['etc/made', 'var/opkg-lists/lab', 'usr/lib/opkg/status']) {
      const { mode } = await stat(join(device.root, file));
      expect(`${file} ${(mode & 0o777).toString(8)}`).toBe(`${file} 644`);
    }
  },
);
