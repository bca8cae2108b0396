import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { checkFiles } from '../../../src/features/audit/file-check.ts';
import type { FileRecord } from '../../../src/package-management/listing.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('a fifo that comes in the place of a file while it is verified is not read', async () => {
  const root = await temporaryFolder();
  const file = join(root, 'file');
  await writeFile(file, 'content');
  const digits = createHash('sha256').update('content').digest('hex');
  const record = { path: '/file', owner: 'demo', isConfig: false } as FileRecord;
  let looks = 0;
  const onDevice = (path: string): string => {
    looks += 1;
    if (looks === 2) putFifo(file, 'content');
    return join(root, path);
  };

  const found = await checkFiles([{ ...record, hash: { algorithm: 'sha256', digits } }], {
    onDevice,
    signal: AbortSignal.timeout(20_000),
  });

  expect(found).toEqual([{ path: '/file', package: 'demo', what: 'content' }]);
});

/** Whoever reads it gets that text. */
function putFifo(file: string, text: string): void {
  rmSync(file);
  execFileSync('mkfifo', [file]);
  const writer = spawn('sh', ['-c', 'printf %s "$1" >"$2"', 'sh', text, file]);
  onTestFinished(() => void writer.kill('SIGKILL'));
}
