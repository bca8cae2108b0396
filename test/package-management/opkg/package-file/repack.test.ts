import { chmod, mkdir, readFile, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
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

async function openDevice(name: string) {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const { root } = device;
  const infoDir = join(root, 'usr/lib/opkg/info');
  await mkdir(infoDir, { recursive: true });
  const control = `Package: ${name}\nVersion: 1\nArchitecture: all\nInstalled-Size: 10\n`;
  await writeFile(join(infoDir, `${name}.control`), control);
  const target = join(root, 'tmp/kept.ipk');
  return {
    root,
    pack: async (paths: readonly string[]) => {
      await writeFile(join(infoDir, `${name}.list`), [...paths, ''].join('\n'));
      await packInstalled({ name, infoDir, destination: root, target });
    },
    putBack: async () => expect(await device.opkg('install', target)).toMatchObject({ code: 0 }),
  };
}

test('what is packed from the disk goes back as it was: modes, times, long names and links', async () => {
  const { root, pack, putBack } = await openDevice('deep');
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
    await utimes(join(root, path), AT, AT);
  }
  await chmod(join(root, 'opt/program'), 0o4755);
  await symlink(`/opt/${LONG}`, join(root, 'opt/link'));
  const before = await plainFiles(root);

  await pack([...Object.keys(FILES), '/opt/link']);
  await rm(join(root, 'opt'), { recursive: true });
  await putBack();

  expect(await plainFiles(root)).toEqual(before);
});

test("what lies below its owner's link to another disk goes back there", async () => {
  const { root, pack, putBack } = await openDevice('moved');
  const program = join(root, 'opt/moved/program');
  await mkdir(join(root, 'mnt/disk/moved'), { recursive: true });
  await symlink('mnt/disk', join(root, 'opt'));
  await writeFile(program, 'there\n');

  await pack(['/opt/moved/program']);
  await rm(join(root, 'mnt/disk/moved'), { recursive: true });
  await putBack();

  expect(await readFile(program, 'utf8')).toBe('there\n');
  expect(await readlink(join(root, 'opt'))).toBe('mnt/disk');
});

test('a package whose list of files is lost is not kept as one without files', async () => {
  const { root } = await openDevice('lost');
  const infoDir = join(root, 'usr/lib/opkg/info');
  const target = join(root, 'tmp/kept.ipk');

  await expect(
    packInstalled({ name: 'lost', infoDir, destination: root, target }),
  ).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringMatching(/^cannot keep lost as a file: .*lost\.list/) as string,
  });
  await expect(readFile(target)).rejects.toMatchObject({ code: 'ENOENT' });
});

/** Without folders, which are written to later, and the time of a link, which nobody puts back. */
async function plainFiles(root: string): Promise<Record<string, string>> {
  const entries = Object.entries(await treeSnapshot(join(root, 'opt')))
    .filter(([path]) => !path.endsWith('long-name'))
    .map(([path, entry]) => [path, path.endsWith('/link') ? entry.replace(/ \S+ /, ' ') : entry]);
  return Object.fromEntries(entries) as Record<string, string>;
}
