import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createDeb } from '../../packaging/deb.ts';
import { debianPackage } from '../../packaging/packages.ts';
import { runCommand } from '../device/command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('lintian has neither an error nor a warning for the Debian package', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'depotd_1.0-r1_all.deb');
  await writeFile(file, createDeb(debianPackage({ version: '1.0', modifiedAt: 1_700_000_000 })));

  const words = ['lintian', '--allow-root', '--fail-on', 'error,warning', file] as const;
  expect(await runCommand(words, { env: { ...process.env, LC_ALL: 'C.UTF-8' } })).toMatchObject({
    code: 0,
    stdout: '',
  });
});
