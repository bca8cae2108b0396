import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { startLockHolder } from '../../device/lock-holder.ts';
import {
  createUploadDevice,
  exists,
  runFile,
  type UploadDevice,
} from '../uploads/upload-device.ts';

let on: UploadDevice;

beforeEach(async () => {
  on = await createUploadDevice();
});

afterEach(() => on.close());

test('the repair of a failed job leaves alone what somebody else is unpacking, until they are done', async () => {
  const { root } = on.device;
  const submitted = (await (
    await on.send([
      runFile(`echo >${root}/tmp/begun; until [ -e ${root}/tmp/go ]; do sleep 0.05; done; exit 1`),
    ])
  ).json()) as { task_id: string };
  await expect.poll(() => exists(join(root, 'tmp/begun'))).toBe(true);
  const other = await startLockHolder(on.device);
  await writeFile(join(root, 'usr/bin/theirs'), '');
  await writeFile(join(root, 'usr/lib/opkg/info/theirs.list'), '/usr/bin/theirs\n');

  await writeFile(join(root, 'tmp/go'), '');

  await expect
    .poll(() => on.daemon.logOf(submitted.task_id))
    .toContain(`waiting: process ${other.pid} holds`);
  expect(await exists(join(root, 'usr/bin/theirs'))).toBe(true);
  await writeFile(
    join(root, 'usr/lib/opkg/status'),
    `${(await on.device.read('usr/lib/opkg/status')) ?? ''}Package: theirs\nVersion: 1\nStatus: install user installed\nArchitecture: all\n\n`,
  );
  await other.release();
  await on.daemon.finished(submitted.task_id);
  expect(await exists(join(root, 'usr/lib/opkg/info/theirs.list'))).toBe(true);
});
