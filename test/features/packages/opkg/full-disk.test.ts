import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { runCommand } from '../../../device/command.ts';
import { largePackage } from '../../../device/packages/awkward-packages.ts';
import { openStore } from '../open-store.ts';

const MIB = 1024 ** 2;

/** An existing folder on a disk of its own. */
async function mountedFolder(sizeMiB: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-small-'));
  const options = `mode=755,size=${sizeMiB}m`;
  await runCommand(['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  onTestFinished(async () => {
    await runCommand(['umount', '-l', folder]);
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

describe.skipIf(process.getuid?.() !== 0)('when room is short', () => {
  test('what is fetched to the same disk counts twice, in the plan and in the job', async () => {
    const directory = join(await mountedFolder(6), 'device');
    await mkdir(directory);
    const store = await openStore({ directory, packages: [largePackage(3 * MIB)] });
    onTestFinished(() => store.close());
    const refusal = expect.stringMatching(
      /cannot install large: it needs 6\.\d\d MB, 3\.\d\d MB of it to fetch it to, and \d\.\d\d MB are/,
    ) as string;

    const answer = await store.daemon.get('admin/store/plan?operation=install&package=large');
    expect(await answer.json()).toMatchObject({
      is_possible: false,
      problems: [{ code: 'no_space', message: refusal }],
    });
    const { state, error, error_code } = await store.run('install', { package: 'large' });
    expect([state, error_code, error]).toEqual(['failed', 'no_space', refusal]);
    expect(await store.packages()).toEqual({});

    expect((await store.run('install', { package: 'virt' })).state).toBe('done');
  });
});
