import { createHash } from 'node:crypto';
import {
  chmod,
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createDownloads } from '../../../src/features/fleet/records/downloads.ts';

const NOBODY = 65534;
const FILE = { sha256: createHash('sha256').update('bytes').digest('hex'), ending: 'ipk' };
let everybodys: string;
let victim: string;

describe.skipIf(process.getuid?.() !== 0)('files of actions below a folder for everybody', () => {
  beforeEach(async () => {
    everybodys = await mkdtemp(join(tmpdir(), 'depotd-downloads-'));
    await chmod(everybodys, 0o1777);
    victim = await mkdtemp(join(tmpdir(), 'depotd-victim-'));
    await writeFile(join(victim, `${FILE.sha256}.ipk`), 'bytes');
    await writeFile(join(victim, 'passwd'), '');
    await mkdir(join(everybodys, 'depotd'));
  });

  afterEach(async () => {
    for (const folder of [everybodys, victim]) await rm(folder, { recursive: true });
  });

  test.each(['the folder', 'the folder above it'])(
    'are neither removed nor believed by way of a link in the place of %s',
    async (which) => {
      const above = join(everybodys, 'depotd');
      if (which === 'the folder') {
        await chown(above, NOBODY, NOBODY);
        await symlink(victim, join(above, 'fleet'));
        await lchown(join(above, 'fleet'), NOBODY, NOBODY);
      } else {
        await rm(above, { recursive: true });
        await symlink(victim, above);
        await lchown(above, NOBODY, NOBODY);
      }
      const folder = which === 'the folder' ? join(above, 'fleet') : `${above}/.`;
      const downloads = createDownloads(folder);

      expect(await downloads.isWhole(FILE)).toBe(false);
      await downloads.keepOnly(new Set());

      expect((await readdir(victim)).sort()).toEqual([`${FILE.sha256}.ipk`, 'passwd']);
    },
  );

  test('are found and removed in a folder of root', async () => {
    const folder = join(everybodys, 'depotd/fleet');
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, `${FILE.sha256}.ipk`), 'bytes');
    const downloads = createDownloads(folder);

    expect(await downloads.isWhole(FILE)).toBe(true);
    await downloads.keepOnly(new Set());

    expect(await readdir(folder)).toEqual([]);
  });
});
