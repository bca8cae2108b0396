import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { createContainerData, type ContainerData } from '../../faults/container-data.ts';
import { canLoop } from '../../support/loop-disks.ts';

let folder: string;
let device: Device;
let data: ContainerData;
let daemon: TestDaemon;
const at = (path: string): string => join(folder, path);

describe.skipIf(!(await canLoop(['mkfs.ext4', 'rsync', 'mount'])))('a move that fails', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'depotd-fails-'));
    device = await createDevice({ directory: at('device') });
    const created = await createContainerData(folder);
    if (created === undefined) throw new Error('cannot make disks');
    data = created;
    await mkdir(at('programs'));
    daemon = await startDaemon(device, {
      set: data.set,
      env: { PATH: `${at('programs')}:${device.path}` },
    });
  });

  afterAll(async () => {
    await daemon.close();
    await data.close();
    await device.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });

  beforeEach(async () => {
    await rm(at('programs/rsync'), { force: true });
    await data.restore(device.root);
  });

  test('says what rsync said of a disk with errors, and what to do', async () => {
    await writeFile(
      at('programs/rsync'),
      `#!/bin/sh
[ "$1" != --version ] || exec /usr/bin/rsync --version
echo 'rsync: [sender] read errors mapping "/opt/docker/x": Input/output error (5)' >&2
echo 'rsync error: error in file IO (code 11) at sender.c(1) [sender=3.5.0]' >&2
exit 11
`,
      { mode: 0o755 },
    );

    expect(await failedMove()).toEqual({
      state: 'failed',
      error:
        'cannot copy: rsync could not read or write a file (exit code 11): a disk has an error: ' +
        '"rsync: [sender] read errors mapping "/opt/docker/x": Input/output error (5)"',
      error_code: 'unknown',
      remedy: 'Check the file system of that disk (fsck), or use another disk, then try again.',
    });
  });

  test('to a disk that has become read-only fails before the engine is stopped', async () => {
    await writeFile(
      at('programs/rsync'),
      `#!/bin/sh
[ "$1" != --version ] || exec /usr/bin/rsync --version
echo 'rsync: [receiver] mkstemp "/mnt/new/x" failed: Read-only file system (30)' >&2
exit 23
`,
      { mode: 0o755 },
    );

    expect(await failedMove()).toEqual({
      state: 'failed',
      error:
        'cannot copy: rsync could not copy everything (exit code 23): a file system is ' +
        'read-only: "rsync: [receiver] mkstemp "/mnt/new/x" failed: Read-only file system (30)"',
      error_code: 'not_allowed',
      remedy: expect.stringContaining('mount it writable') as string,
    });
  });

  test('says what an engine printed that cannot be started', async () => {
    await rename(at('engine'), at('engine-that-works'));
    await writeFile(
      at('engine'),
      `if [ "$1" = start ] && grep -q '${data.target}' '${device.root}/etc/docker/daemon.json'; then
	echo 'failed to start daemon: driver not supported: overlay2'
	exit 1
fi
exec sh '${at('engine-that-works')}' "$1"
`,
    );

    expect(await failedMove()).toEqual({
      state: 'failed',
      error:
        'cannot start the container engine: it does not answer: ' +
        '"failed to start daemon: driver not supported: overlay2"',
      error_code: 'unknown',
      remedy: expect.stringContaining("Read the engine's own log") as string,
    });
  });
});

async function failedMove(): Promise<object> {
  const id = await daemon.submit('docker_migrate', { path: data.target });
  const { state, error, error_code, remedy } = await daemon.finished(id);
  expect(await data.judge(device.root, false)).toEqual([]);
  return { state, error, error_code, remedy };
}
