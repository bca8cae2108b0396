import { expect, test } from 'vitest';

import { isInSight, parseMountTable } from '../../../src/device/disk/mounts.ts';

test.each<[string, string[], string[]]>([
  [
    'OpenWrt, whose root was mounted last and holds the others',
    ['20 1 /', '15 20 /rom', '16 20 /overlay', '30 20 /mnt/sda1'],
    ['/', '/rom', '/overlay', '/mnt/sda1'],
  ],
  ['one disk on another one', ['2 1 /', '3 2 /mnt', '4 3 /mnt'], ['/', '4']],
  [
    'a disk above the folder where others are',
    ['2 1 /', '3 2 /mnt/a', '4 3 /mnt/a/b', '5 2 /mnt', '6 5 /mnt/c'],
    ['/', '/mnt', '/mnt/c'],
  ],
  [
    'a disk on another one that holds a third',
    ['2 1 /', '3 2 /m', '4 3 /m/x', '5 3 /m'],
    ['/', '5'],
  ],
])('%s', (_, lines, seen) => {
  const mounts = parseMountTable(
    lines
      .map((line) => line.split(' '))
      .map(([id, parent, path]) => `${id} ${parent} 8:${id} / ${path} rw - ext4 /dev/sd${id} rw`)
      .join('\n'),
  );

  const found = mounts.filter((mount) => isInSight(mount, mounts));

  expect(found.map(({ id, path }) => (seen.includes(path) ? path : String(id)))).toEqual(seen);
});
