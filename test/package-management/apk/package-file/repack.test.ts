import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';

import { createLocations } from '../../../../src/package-management/apk/database/apk-locations.ts';
import { packInstalled } from '../../../../src/package-management/apk/package-file/repack.ts';
import { runCommand } from '../../../device/command.ts';
import { createTar } from '../../../device/tar.ts';
import { openFiles } from '../../../support/open-files.ts';

/** A device on which apk has one package on record. */
async function openRecords() {
  const root = await mkdtemp(join(tmpdir(), 'depotd-repack-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const onDevice = (path: string): string => join(root, path);
  const locations = createLocations({ onDevice, stateDir: join(root, 'state') } as never);
  await mkdir(locations.database, { recursive: true });
  await writeFile(locations.installed, 'P:demo\nV:1-r0\nA:all\n\n');
  return { root, locations };
}

test.each(['scripts.tar.gz', 'scripts.tar'])('%s is not left open', async (archive) => {
  const { root, locations } = await openRecords();
  const content = Buffer.from('#!/bin/sh\n');
  const scripts = createTar([{ name: 'demo-1-r0.X00.post-install', mode: 0o755, content }]);
  const bytes = archive.endsWith('.gz') ? gzipSync(scripts) : scripts;
  await writeFile(join(dirname(locations.scripts), archive), bytes);

  await packInstalled({ name: 'demo', target: join(root, 'demo.apk'), root, locations });

  await expect.poll(() => openFiles(root)).toEqual([]);
});

test('a fifo in the place of the archive of scripts is not waited for', async () => {
  const { root, locations } = await openRecords();
  await runCommand(['mkfifo', locations.scripts]);

  const packed = packInstalled({ name: 'demo', target: join(root, 'demo.apk'), root, locations });

  await expect(packed).rejects.toThrow('it is no file');
});
