import { chown, lchown, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { loadConfig } from '../../../../src/config/config.ts';
import { createPaths } from '../../../../src/device/paths.ts';
import { createLocations } from '../../../../src/package-management/apk/database/apk-locations.ts';
import {
  findLeftovers,
  removeLeftovers,
} from '../../../../src/package-management/apk/recovery/leftovers.ts';
import { createApkDevice } from '../../../device/apk-device/apk-device.ts';

const SOMEBODY = 1234;

test.skipIf(process.getuid?.() !== 0)(
  'what a cut-off apk left goes, but not through a link of somebody else’s',
  async () => {
    const device = await createApkDevice();
    onTestFinished(() => device.close());
    const { root } = device;
    const inRoot = (path: string): string => join(root, path);
    const names = ['passwd', `.apk.${'a'.repeat(48)}`];
    for (const folder of ['precious', 'srv/site', 'home/somebody']) {
      await mkdir(inRoot(folder), { recursive: true });
    }
    for (const folder of ['precious', 'srv/site']) {
      for (const name of names) await writeFile(inRoot(`${folder}/${name}`), name);
    }
    await chown(inRoot('home/somebody'), SOMEBODY, SOMEBODY);
    await symlink(inRoot('precious'), inRoot('home/somebody/site'));
    await lchown(inRoot('home/somebody/site'), SOMEBODY, SOMEBODY);
    const config = loadConfig({ file: '/dev/null', overrides: [`main.root=${root}`] });

    await removeLeftovers(
      ['cut'],
      {
        jobId: '0',
        verb: 'install',
        names: ['cut'],
        changes: [],
        kept: [],
        absent: [],
        folders: [],
        created: {
          cut: {
            files: ['srv/site/passwd', 'home/somebody/site/passwd'],
            folders: ['srv/site', 'home/somebody/site'],
          },
        },
      },
      { root, locations: createLocations(createPaths(config)) },
    );

    expect([await readdir(inRoot('precious')), await readdir(inRoot('srv'))]).toEqual([
      names.toSorted(),
      [],
    ]);
  },
);

test('the files of a large package are gone through once', async () => {
  const device = await createApkDevice();
  onTestFinished(() => device.close());
  const { root } = device;
  const config = loadConfig({ file: '/dev/null', overrides: [`main.root=${root}`] });
  const locations = createLocations(createPaths(config));
  const files = Array.from({ length: 50_000 }, (_, index) => `R:${index}\n`).join('');
  const record = `P:large\nV:1.0-r1\nA:noarch\nF:usr/share/large\n${files}\n`;
  await writeFile(locations.installed, record);
  const changes = [{ action: 'Upgrading', name: 'large', from: '1.0-r1', to: '2.0-r1' } as const];
  const rest = { kept: [], absent: [], folders: [], created: {} };
  const before = process.cpuUsage();

  const found = await findLeftovers(
    { jobId: '0', verb: 'upgrade', names: ['large'], changes, ...rest },
    { root, locations },
    false,
  );

  const { user, system } = process.cpuUsage(before);
  expect(found).toEqual({ installed: [], changed: ['large'], removed: [] });
  expect((user + system) / 1_000_000).toBeLessThan(2);
}, 60_000);
