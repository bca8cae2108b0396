import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { createPaths } from '../../../../src/device/paths.ts';
import { loadConfig } from '../../../../src/config/config.ts';
import { createLocations } from '../../../../src/package-management/apk/database/locations.ts';
import { createTransactionRecords } from '../../../../src/package-management/apk/recovery/transaction-record.ts';

test('what 0.1.0 was about to do is read, though it says less', async () => {
  const own = await mkdtemp(join(tmpdir(), 'depotd-record-'));
  onTestFinished(() => rm(own, { recursive: true }));
  const config = loadConfig({ file: '/dev/null', overrides: [] });
  const { read } = createTransactionRecords({ ...createLocations(createPaths(config)), own });
  const record = { jobId: '1', verb: 'install', names: ['hello'], changes: [], created: {} };

  await writeFile(join(own, 'transaction.json'), JSON.stringify(record));

  expect(await read('1')).toEqual({ ...record, kept: [], absent: [], folders: [] });
});
