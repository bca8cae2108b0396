import { chmod, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { packInstalled } from '../../../../src/package-management/opkg/package-file/repack.ts';
import { createDevice } from '../../../device/device.ts';
import { treeSnapshot } from '../../../support/tree-snapshot.ts';

const LONG = `${'a-folder-with-a-long-name/'.repeat(6)}end`;
const FILES: Readonly<Record<string, string>> = {
  '/opt/program': '#!/bin/sh\n',
  [`/opt/${LONG}`]: 'far below\n',
  '/opt/empty': '',
};
/** Whole seconds, as an archive has them. */
const AT = 1_600_000_000;

test('what is packed from the disk goes back as it was: modes, times, long names and links', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const { root } = device;
  const infoDir = join(root, 'usr/lib/opkg/info');
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
    await utimes(join(root, path), AT, AT);
  }
  await chmod(join(root, 'opt/program'), 0o4755);
  await symlink(`/opt/${LONG}`, join(root, 'opt/link'));
  await mkdir(infoDir, { recursive: true });
  const control = 'Package: deep\nVersion: 1\nArchitecture: all\nInstalled-Size: 10\n';
  await writeFile(join(infoDir, 'deep.control'), control);
  await writeFile(join(infoDir, 'deep.list'), [...Object.keys(FILES), '/opt/link', ''].join('\n'));
  const before = await plainFiles(root);

  const target = join(root, 'tmp/kept.ipk');
  await packInstalled({ name: 'deep', infoDir, destination: root, target });
  await rm(join(root, 'opt'), { recursive: true });
  expect(await device.opkg('install', target)).toMatchObject({ code: 0 });

  expect(await plainFiles(root)).toEqual(before);
});

/** Without folders, which opkg makes, and the time of a link, which nobody puts back. */
async function plainFiles(root: string): Promise<Record<string, string>> {
  const entries = Object.entries(await treeSnapshot(join(root, 'opt')))
    .filter(([path]) => !path.endsWith('long-name'))
    .map(([path, entry]) => [path, path.endsWith('/link') ? entry.replace(/ \S+ /, ' ') : entry]);
  return Object.fromEntries(entries) as Record<string, string>;
}
