import { access, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { removeFolder } from '../../../src/features/containers/remove-folder.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'depotd-remove-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  for (const name of ['app/inner', 'else']) await mkdir(join(path, name), { recursive: true });
  await writeFile(join(path, 'else/file'), '');
  return path;
}

test('all of it goes, names that are no UTF-8 and links as such', async () => {
  const path = await folder();
  await writeFile(Buffer.concat([Buffer.from(join(path, 'app/inner/')), Buffer.from([0xff])]), '');
  await symlink(join(path, 'else'), join(path, 'app/link'));

  await removeFolder(join(path, 'app'));
  await removeFolder(join(path, 'app'));

  expect(await readdir(path)).toEqual(['else']);
  expect(await readdir(join(path, 'else'))).toEqual(['file']);
});

test('a link on the way leads nowhere', async () => {
  const path = await folder();
  await symlink(join(path, 'else'), join(path, 'link'));
  await mkdir(join(path, 'else/deep'));

  await expect(removeFolder(join(path, 'link/deep'))).rejects.toThrow();

  await access(join(path, 'else/deep'));
});

test.each(['/', '', '/proc/'])('"%s" is refused', async (path) => {
  await expect(removeFolder(path)).rejects.toThrow();
});
