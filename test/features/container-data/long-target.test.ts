import { expect, test } from 'vitest';

import { daemonOfFile } from '../../support/daemon-of-file.ts';

const daemon = daemonOfFile();

test.each([3070, 4072, 4080])(
  'a target of %i bytes below a folder is bad, because it is too long',
  async (bytes) => {
    const path = `/0/${'\u{1f600}'.repeat(bytes / 4)}${'0'.repeat(bytes % 4)}`;
    const checked = await daemon.get(`admin/store/docker_check_migrate?path=${path}`);
    expect([checked.status, await checked.json()]).toMatchObject([
      200,
      { result: 'bad', error: 'the path is too long: 3072 bytes are allowed' },
    ]);

    const moved = await daemon.post('admin/store/docker_migrate', { path });
    expect([moved.status, await moved.json()]).toMatchObject([
      200,
      { code: 1, stderr: expect.stringContaining('the path is too long') as string },
    ]);
  },
);
