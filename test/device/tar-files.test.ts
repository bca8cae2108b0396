import { mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { tarFiles } from '../../src/device/tar/tar-files.ts';
import { collect } from '../support/collect.ts';

test('a time of before 1970 is one that apk reads, too: it refuses all that are no octal numbers', async () => {
  const root = await mkdtemp(join(tmpdir(), 'depotd-tar-files-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFile(join(root, 'old'), 'content');
  const then = new Date(-5000);
  await utimes(join(root, 'old'), then, then);

  const options = { root, paths: ['old'], longNames: 'gnu', hasChecksums: false } as const;
  const header = Buffer.concat(await collect(tarFiles(options)));

  expect(header.toString('latin1', 136, 148)).toMatch(/^[0-7]{11}\0$/);
});

test('a link that comes in the place of a file while it is packed leads to nothing', async () => {
  const root = await mkdtemp(join(tmpdir(), 'depotd-tar-files-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFile(join(root, 'secret'), 'of root');
  await writeFile(join(root, 'shared'), 'for all');
  const options = { root, paths: ['shared'], longNames: 'gnu', hasChecksums: false } as const;
  const pieces = tarFiles(options);
  await pieces.next();
  await rm(join(root, 'shared'));
  await symlink('secret', join(root, 'shared'));

  await expect(collect(pieces)).rejects.toThrow('ELOOP');
});
