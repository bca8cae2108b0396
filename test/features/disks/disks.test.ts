import { expect, onTestFinished, test } from 'vitest';

import { createDisks } from '../../../src/features/disks/disks.ts';
import { createLog } from '../../../src/log.ts';

test('after a write nobody is told the old label, however many ask in that moment', async () => {
  let label = 'old';
  let written = (): void => undefined;
  const disks = createDisks({
    log: createLog('silent'),
    host: {
      fingerprint: async () => Promise.resolve('same'),
      list: async () => Promise.resolve([{ ...DISK, label }]),
      onceWritten: async (onWrite) => {
        written = onWrite;
        return () => undefined;
      },
    },
  });
  await disks.all();

  label = 'new';
  written();
  const answers = await Promise.all(Array.from({ length: 4 }, () => disks.all()));
  disks.close();

  expect(answers.map(({ sda1 }) => sda1?.label)).toEqual(['new', 'new', 'new', 'new']);
});

test('a label that was written counts also after a listing that failed', async () => {
  let label = 'old';
  let isFailing = false;
  let written = (): void => undefined;
  const disks = createDisks({
    log: createLog('silent'),
    host: {
      fingerprint: async () => Promise.resolve('same'),
      list: async () => {
        if (isFailing) throw new Error('lsblk was killed');
        return Promise.resolve([{ ...DISK, label }]);
      },
      onceWritten: async (onWrite) => {
        written = onWrite;
        return () => undefined;
      },
    },
  });
  onTestFinished(disks.close);
  await disks.all();

  label = 'new';
  written();
  isFailing = true;
  await expect(disks.all()).rejects.toThrow('lsblk was killed');
  isFailing = false;

  expect((await disks.all()).sda1?.label).toBe('new');
});

const DISK = {
  name: 'sda1',
  path: '/dev/sda1',
  sizeBytes: 1024,
  type: 'ext4',
  version: '1.0',
  label: '',
  uuid: '',
  mounts: [],
  seenAt: undefined,
};
