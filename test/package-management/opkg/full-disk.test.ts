import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { largePackage } from '../../device/packages/awkward-packages.ts';
import { expectNoRoom, mountedFolder } from '../../features/packages/no-room.ts';
import { openStore } from '../../features/packages/open-store.ts';

const MIB = 1024 ** 2;

describe.skipIf(process.getuid?.() !== 0)('when room is short', () => {
  test('what is fetched to the same disk counts twice, in the plan and in the job', async () => {
    const directory = join(await mountedFolder(6), 'device');
    await mkdir(directory);
    const store = await openStore({ directory, packages: [largePackage(3 * MIB)] });
    onTestFinished(() => store.close());
    await expectNoRoom(
      store,
      'large',
      /cannot install large: it needs 6\.\d\d MiB, 3\.\d\d MiB of it to fetch it to, and \d\.\d\d MiB are/,
    );
    expect(await store.packages()).toEqual({});

    expect((await store.run('install', { package: 'virt' })).state).toBe('done');
  });
});
