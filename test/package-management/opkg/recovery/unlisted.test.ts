import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { StepContext } from '../../../../src/jobs/plan.ts';
import {
  unlisted,
  unlistedSteps,
} from '../../../../src/package-management/opkg/recovery/unlisted.ts';
import { createIpk } from '../../../device/ipk.ts';
import { simplePackage } from '../../../device/packages/package-parts.ts';
import { jobOf } from '../../../jobs/job-of.ts';

test.each([
  ['its own is removed', 0o700, false],
  ["another one's folder of that name stays", 0o777, true],
])('what a package was fetched into: %s', async (_, mode, stays) => {
  const root = await mkdtemp(join(tmpdir(), 'depotd-unlisted-test-'));
  const id = `test-${process.pid}-${mode}`;
  const folder = join(tmpdir(), `depotd-unlisted-${id}`);
  onTestFinished(async () => {
    for (const path of [root, folder]) await rm(path, { recursive: true, force: true });
  });
  const [infoDir, file] = [join(root, 'info'), join(root, 'etc/victim')];
  for (const path of [infoDir, join(root, 'etc'), folder]) await mkdir(path);
  await chmod(folder, mode);
  await writeFile(file, 'mine');
  const { bytes } = createIpk(simplePackage('sent', { files: { '/etc/victim': 'x' } }));
  await writeFile(join(folder, 'sent_1.0-1_all.ipk'), bytes);
  const job = jobOf(id);
  const context: Pick<StepContext, 'job' | 'memory' | 'note'> = {
    job,
    memory: job.memory,
    note: () => Promise.resolve(),
  };
  unlisted.write(context, { unlisted: ['sent'] });
  const [, remove] = unlistedSteps({ infoDir, destination: root }, () => ({
    argv: ['true'],
    environment: {},
    cwd: '/',
  }));

  if (remove !== undefined && 'act' in remove) await remove.act(context as StepContext);

  const found = await readFile(file, 'utf8').catch(() => 'gone');
  expect(found).toBe(stays ? 'mine' : 'gone');
});
