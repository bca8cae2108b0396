import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect, onTestFinished, test } from 'vitest';

import { runCommand } from '../../../device/command.ts';
import { bundledProgram } from '../../../support/bundled-program.ts';

const PACKAGES = 80_000;
/** As the daemon has them. */
const FLAGS = ['--semi-space-growth-factor=1', '--heap-growing-percent=20', '--optimize-for-size'];

const paragraph = (number: number): string => `Package: p${number}
Version: 1.2-r1
Depends: libc, lib-${number}, kmod-demo (>= 2.0)
Provides: virtual-${number}
License: GPL-2.0
Section: utils
SourceDateEpoch: 1700000000
Maintainer: A <a@b.invalid>
Architecture: all
Installed-Size: 20480
Filename: p${number}_1.2-r1_all.ipk
Size: 9000
SHA256sum: ${'ab'.repeat(32)}
Description:  What this package does
 goes on in a second line.

`;

test('a large list is read without its pieces piling up in memory', async () => {
  const lists = await mkdtemp(join(tmpdir(), 'depotd-lists-'));
  onTestFinished(() => rm(lists, { recursive: true }));
  const text = Array.from({ length: PACKAGES }, (_, number) => paragraph(number)).join('');
  await writeFile(join(lists, 'large'), gzipSync(text, { level: 1 }));
  const program = await bundledProgram(join(import.meta.dirname, 'summarize-large-list.ts'));

  const { stdout } = await runCommand(['node', ...FLAGS, program, lists]);

  const { count, most } = JSON.parse(stdout) as { count: number; most: number };
  expect(count).toBe(PACKAGES);
  expect(most).toBeLessThan(25);
});
