import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { ipk } from '../features/uploads/upload-device.ts';
import { shareClientTest } from './start-depotctl.ts';

const client = shareClientTest({ daemon: { set: ['main.upload_max_mb=1'] } });

test('upload sends files, installs them one after the other and shows their logs; undo removes what one brought', async () => {
  const { depotctl, device } = client();
  const file = ipk('hello');
  const paths = [join(device.root, file.name), join(device.root, 'two "names".run')];
  await writeFile(paths[0] ?? '', file.content);
  await writeFile(paths[1] ?? '', '#!/bin/sh\necho it runs\n');

  const sent = await depotctl('upload', ...paths);

  expect(sent.code).toBe(0);
  expect(sent.stdout).toMatch(/Configuring hello\.[^]*it runs/);
  expect(sent.stderr).toContain(`install ${file.name}: done`);
  expect((await device.database()).has('hello')).toBe(true);
  const rows = (await depotctl('uploads')).stdout.split('\n').map((line) => line.split(/\s{2,}/));
  const [id = ''] = rows.find((row) => row[2] === file.name) ?? [];
  expect((await depotctl('undo', id)).code).toBe(0);
  expect((await device.database()).has('hello')).toBe(false);
  expect((await depotctl('undo', id)).stderr).toContain(
    `cannot find ${id}: "depotctl jobs" lists tasks, "depotctl uploads" what was sent`,
  );
});

test('what cannot be sent or is refused is named with its reason, and the rest is done', async () => {
  const { depotctl, device } = client();
  const at = (name: string): string => join(device.root, name);
  await writeFile(at('big.run'), Buffer.alloc(9_000_000, '#!/bin/sh\n'));
  await writeFile(at('text.txt'), 'hello');
  await writeFile(at('empty.run'), '');
  await writeFile(at('good.run'), '#!/bin/sh\necho it runs\n');

  const { code, stdout, stderr } = await depotctl(
    'upload',
    at('absent.run'),
    device.root,
    at('big.run'),
    at('text.txt'),
    at('empty.run'),
    at('good.run'),
  );

  expect(code).toBe(1);
  expect(stdout).toContain('it runs');
  expect(stderr.split('\n').map((line) => line.replaceAll(`${device.root}/`, ''))).toEqual([
    'depotctl: upload absent.run: cannot send absent.run: there is no such file',
    expect.stringContaining('it is not a file'),
    'depotctl: upload big.run: cannot take the upload: it has more than 1.00 MiB',
    'depotctl:   → Send a smaller file, or have main.upload_max_mb raised.',
    'depotctl: upload text.txt: cannot take the upload: the name of the file must end in .ipk or .run',
    'depotctl:   → Send a file whose name ends in .ipk or .run.',
    expect.stringContaining('depotctl: upload empty.run: cannot take the upload: a program begins'),
    'depotctl:   → Download it again, or get it from another source.',
    expect.stringContaining('install good.run: done'),
    '',
  ]);
});

test('disks lists devices as the daemon does, with what is used and free', async () => {
  const { depotctl, daemon } = client();
  // Other tests mount disks meanwhile, so that two answers may differ.
  await vi.waitFor(
    async () => {
      const { data } = (await (await daemon.get('admin/store/get_block_devices')).json()) as {
        data: Record<string, { dev: string }>;
      };
      const { code, stdout, stderr } = await depotctl('disks', '--json');

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const disks = JSON.parse(stdout) as Record<string, { dev: string; mounts: string[] }>;
      expect(Object.keys(disks)).toEqual(Object.keys(data));
      for (const [name, disk] of Object.entries(disks)) {
        expect(disk).toMatchObject({ dev: data[name]?.dev, mounts: expect.any(Array) as unknown });
      }
    },
    { timeout: 20_000 },
  );
  // As all sizes there, not as iStore writes the first of them.
  expect((await depotctl('disks')).stdout).not.toMatch(/\d\.\d\d ?[KMGTP]/);
});

test('autoconf configures an app that is installed', async () => {
  const { depotctl } = client();
  await depotctl('install', 'demo');

  const { code, stdout } = await depotctl('autoconf', 'demo', '--path', '/mnt/data');

  expect([code, stdout.includes('ISTORE_CONF_DIR=/mnt/data/Configs')]).toEqual([0, true]);
});
