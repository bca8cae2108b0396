import { readdirSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { removeFolder } from '../../../src/features/containers/removal.ts';

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

test('what a container has nested thousands of folders deep goes, with few of them open', async () => {
  const path = await folder();
  const nest = `cd "$1/app/inner"; names=$(printf 'd/%.0s' $(seq 700))
    for _ in 1 2 3; do mkdir -p "$names" && cd -P "$names" || exit 1; done`;
  expect((await runCommand(['bash', '-c', nest, 'sh', path])).code).toBe(0);
  let mostOpen = 0;
  const timer = setInterval(() => {
    mostOpen = Math.max(mostOpen, readdirSync('/proc/self/fd').length);
  }, 1);

  await removeFolder(join(path, 'app'));

  clearInterval(timer);
  expect(await readdir(path)).toEqual(['else']);
  expect(mostOpen).toBeLessThan(400);
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
