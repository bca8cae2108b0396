import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { failureIn, targetFull } from '../../../src/features/container-data/disk-failure.ts';
import { canLoop, command } from '../../support/loop-disks.ts';

/** rsync 3.5.0 on Linux 6.18; a dockerd that cannot make its folder. */
test.each([
  [
    'a full disk, behind which its other process ends',
    'copied 3 %\n' +
      'rsync: [receiver] write failed on "/mnt/a": No space left on device (28)\n' +
      'rsync error: error in file IO (code 11) at receiver.c(657) [receiver=3.5.0]\n' +
      'rsync: [sender] write error: Broken pipe (32)\n',
    'no_space',
    '"rsync: [receiver] write failed on "/mnt/a": No space left on device (28)"',
  ],
  [
    'a disk that has become read-only',
    'rsync: [generator] recv_generator: mkdir "/mnt/sub" failed: Read-only file system (30)\n' +
      '*** Skipping any contents from this failed directory ***\n' +
      'rsync error: some files/attrs were not transferred (see previous errors) (code 23)\n',
    'not_allowed',
    'a file system is read-only: "rsync: [generator] recv_generator: mkdir "/mnt/sub" failed',
  ],
  [
    'a disk with errors',
    'rsync: [sender] read errors mapping "/opt/docker/x": Input/output error (5)\n',
    'unknown',
    'a disk has an error: "rsync: [sender] read errors mapping "/opt/docker/x": Input/output error',
  ],
  [
    'a file that FAT cannot hold',
    'rsync: [receiver] write failed on "/mnt/large": File too large (27)\n',
    'not_allowed',
    'the file system of the target cannot hold so large a file',
  ],
  [
    'anything else, by its own last line',
    'rsync: [sender] opendir "/opt/docker/x" failed: Permission denied (13)\n' +
      'rsync: connection unexpectedly closed (37 bytes received so far) [sender]\n' +
      'rsync error: some files could not be transferred (code 23) at main.c(1394)\n',
    'unknown',
    '"rsync: [sender] opendir "/opt/docker/x" failed: Permission denied (13)"',
  ],
  [
    'an engine that cannot start',
    'Starting docker\nfailed to start daemon: mkdir /opt/docker/tmp: read-only file system\n',
    'not_allowed',
    'a file system is read-only: "failed to start daemon: mkdir /opt/docker/tmp',
  ],
])('%s is told with its cause', (...[, output, code, reason]) => {
  expect(failureIn(output)).toMatchObject({
    reason: expect.stringContaining(reason) as string,
    explanation: { code, remedy: expect.stringMatching(/^[A-Z].*\.$/) as string },
  });
});

test('of a program that printed nothing but progress there is nothing to tell', () => {
  expect(failureIn('copied 3 %\ncopied 4 %\n')).toBeUndefined();
  expect(failureIn('')).toBeUndefined();
});

test('a full target is told with what is free and what the data takes', () => {
  const full = { path: '/mnt/two', freeBytes: 1_500_000, freeInodes: 1000 };
  expect(targetFull('copy', full, 3 * 1024 ** 3)).toMatchObject({
    code: 'no_space',
    message:
      'cannot copy: the file system of /mnt/two is full: 1.43 MiB are free, the data takes 3.00 GiB',
    explanation: { code: 'no_space' },
  });
  expect(targetFull('copy', { ...full, freeInodes: 3 }, 3 * 1024 ** 3).message).toContain(
    'is full: 3 more files fit, the data takes',
  );
});

describe.skipIf(!(await canLoop(['mount', 'rsync'])))('the rsync of this machine', () => {
  test.each([
    ['a full disk', 'no_space', ''],
    ['a read-only disk', 'not_allowed', ',ro'],
  ])('says so of %s', async (_, code, option) => {
    const folder = await mkdtemp(join(tmpdir(), 'depotd-rsync-'));
    const [source, target] = [join(folder, 'source'), join(folder, 'target')];
    for (const path of [source, target]) await mkdir(path);
    await writeFile(join(source, 'large'), Buffer.alloc(3_000_000, 'x'));
    await command('mount', ['-t', 'tmpfs', '-o', `size=1m${option}`, 'target', target]);
    try {
      expect(
        failureIn(await printed('rsync', ['-aHSx', `${source}/`, `${target}/`])),
      ).toMatchObject({ explanation: { code } });
    } finally {
      await command('umount', [target]);
      await rm(folder, { recursive: true });
    }
  });
});

function printed(program: string, options: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, options, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
