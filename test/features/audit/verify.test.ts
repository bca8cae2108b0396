import { chmod, chown, lutimes, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { createApkDevice } from '../../device/apk-device/apk-device.ts';
import { runCommand, type Outcome } from '../../device/command.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { MODIFIED_AT } from '../../device/tar.ts';
import { DEPOTCTL } from '../../cli/start-depotctl.ts';

interface Differing {
  path: string;
  package: string;
  what: string;
}

interface Verification {
  files: number;
  differing: Differing[];
  configuration: Differing[];
  set_id: string[];
  listeners: unknown[];
}

const COUNT = 50;
const CONFIG = '/etc/config/many';
const fileAt = (index: number): string => `/usr/lib/many/${index}`;
const FILES = Object.fromEntries([
  ...Array.from({ length: COUNT }, (_, index) => [
    fileAt(index),
    { mode: index % 2 === 0 ? 0o755 : 0o644, content: `file ${index}\n` },
  ]),
  [CONFIG, 'as it came\n'],
  ['/etc/uci-defaults/many', 'runs once\n'],
]) as Record<string, string | { mode: number; content: string }>;

/** A device with the package on it, and a daemon; they go with the test. */
async function startOn(manager: 'opkg' | 'apk'): Promise<Examined> {
  const version = manager === 'opkg' ? '1.0-1' : '1.0-r1';
  const fields = { SourceDateEpoch: String(MODIFIED_AT), License: 'MIT' };
  const lists = { '/lib/apk/packages/many.conffiles': `${CONFIG}\n` };
  const device =
    manager === 'opkg'
      ? await createDevice({
          packages: [
            {
              name: 'many',
              version,
              architecture: 'all',
              fields,
              files: FILES,
              conffiles: [CONFIG],
            },
          ],
        })
      : await createApkDevice({
          packages: [{ name: 'many', version, files: { ...FILES, ...lists } }],
        });
  onTestFinished(() => device.close());
  const run = 'opkg' in device ? device.opkg : device.apk;
  await run('update');
  expect(await run(manager === 'opkg' ? 'install' : 'add', 'many')).toMatchObject({ code: 0 });
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  return {
    root: device.root,
    daemon,
    verify: async () => (await (await daemon.get('admin/system/verify')).json()) as Verification,
    depotctl: (...words) => runCommand([process.execPath, DEPOTCTL, '--url', daemon.url, ...words]),
  };
}

interface Examined {
  root: string;
  daemon: TestDaemon;
  verify: () => Promise<Verification>;
  depotctl: (...words: string[]) => Promise<Outcome>;
}

test.each(['opkg', 'apk'] as const)('with %s a clean device has no difference', async (manager) => {
  const on = await startOn(manager);
  await rm(join(on.root, 'etc/uci-defaults/many'));

  const answer = await on.verify();

  expect(answer).toMatchObject({ differing: [], configuration: [], set_id: [], listeners: [] });
  expect(answer.files).toBeGreaterThan(COUNT);
  expect(await on.depotctl('verify')).toMatchObject({ code: 0, stdout: '' });
});

test.each(['opkg', 'apk'] as const)(
  'with %s each of 40 planted changes is named, and changed configuration told apart',
  async (manager) => {
    const on = await startOn(manager);
    const at = (index: number): string => join(on.root, fileAt(index));
    const planted: [path: string, what: string][] = [];
    const later = Date.now() / 1000 + 3600;
    for (let index = 0; index < 40; index += 1) {
      const kinds =
        manager === 'apk' ? [change, drop, link, pipe, setUid, give] : [change, drop, link, pipe];
      const what = await (kinds[index % kinds.length] ?? change)(at(index));
      planted.push([fileAt(index), what]);
    }
    await writeFile(join(on.root, CONFIG), 'as its owner wants it\n');
    await writeFile(join(on.root, 'usr/bin/stranger'), '');
    await chmod(join(on.root, 'usr/bin/stranger'), 0o4755);

    const answer = await on.verify();

    const byPath = (one: [string, string], other: [string, string]): number =>
      one[0] < other[0] ? -1 : 1;
    expect(
      answer.differing.map(({ path, what }): [string, string] => [path, what]).sort(byPath),
    ).toEqual(planted.sort(byPath));
    expect(answer.configuration).toEqual([{ path: CONFIG, package: 'many', what: 'content' }]);
    expect(answer.set_id).toEqual(['/usr/bin/stranger']);
    const { code, stdout } = await on.depotctl('verify');
    expect(code).toBe(1);
    expect(stdout).toContain(`configuration, content  many     ${CONFIG}`);

    async function change(path: string): Promise<string> {
      await writeFile(path, 'something else\n');
      return 'content';
    }
    async function drop(path: string): Promise<string> {
      await rm(path);
      return 'missing';
    }
    async function link(path: string): Promise<string> {
      await rm(path);
      await symlink('/bin/sh', path);
      await lutimes(path, later, later);
      return 'content';
    }
    async function pipe(path: string): Promise<string> {
      await rm(path);
      await mkdir(path);
      return 'kind';
    }
    async function setUid(path: string): Promise<string> {
      await chmod(path, 0o4755);
      return 'mode';
    }
    async function give(path: string): Promise<string> {
      await chown(path, 1000, 1000);
      return 'owner';
    }
  },
);

test('what came with the image is held to the image', async () => {
  const on = await startOn('opkg');
  const image = join(on.root, 'rom', fileAt(0));
  await mkdir(join(image, '..'), { recursive: true });
  await writeFile(image, 'file 0\n', { mode: 0o755 });
  expect((await on.verify()).differing).toEqual([]);

  await writeFile(join(on.root, fileAt(0)), 'fil3 0\n');
  await lutimes(join(on.root, fileAt(0)), MODIFIED_AT, MODIFIED_AT);

  expect((await on.verify()).differing).toEqual([
    { path: fileAt(0), package: 'many', what: 'content' },
  ]);
});

test('the doctor names files that are gone', async () => {
  const on = await startOn('opkg');
  const check = async (): Promise<unknown> => {
    const { checks } = (await (await on.daemon.get('admin/system/doctor')).json()) as {
      checks: { id: string }[];
    };
    return checks.find(({ id }) => id === 'package-files');
  };
  expect(await check()).toMatchObject({ state: 'ok' });

  await rm(join(on.root, fileAt(7)));

  expect(await check()).toMatchObject({
    state: 'warning',
    message: `files of packages are gone: ${fileAt(7)}`,
  });
});

test('what is installed is a list of CycloneDX, and advisories are held to it without a network', async () => {
  const on = await startOn('opkg');
  const bill = JSON.parse((await on.depotctl('sbom')).stdout) as { components: unknown[] };
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
  expect(bill.components).toContainEqual(
    expect.objectContaining({
      name: 'many',
      version: '1.0-1',
      licenses: [{ license: { id: 'MIT' } }],
    }),
  );

  const advisory = (id: string, events: object[], versions: string[] = []): object => ({
    id,
    affected: [
      {
        package: { name: 'many', ecosystem: 'OpenWrt' },
        ranges: [{ type: 'ECOSYSTEM', events }],
        versions,
      },
    ],
  });
  const file = join(on.root, 'advisories.json');
  const list = [
    advisory('fixed-later', [{ introduced: '0' }, { fixed: '1.1' }]),
    advisory('fixed-already', [{ introduced: '0' }, { fixed: '1.0' }]),
    advisory('last', [{ introduced: '0.5' }, { last_affected: '1.0' }]),
    advisory('not-yet', [{ introduced: '2.0' }]),
    advisory('again', [{ introduced: '0' }, { fixed: '0.9' }, { introduced: '1.0-1' }]),
    advisory('named', [], ['1.0']),
    { id: 'other', affected: [{ package: { name: 'absent' }, ranges: [] }] },
  ];
  await writeFile(file, JSON.stringify(list));

  const { code, stdout } = await on.depotctl('advisories', file, '--json');

  const affected = JSON.parse(stdout) as { id: string }[];
  expect(code).toBe(1);
  expect(affected.map(({ id }) => id)).toEqual(['fixed-later', 'last', 'again', 'named']);
  expect(affected[0]).toEqual({
    id: 'fixed-later',
    package: 'many',
    version: '1.0-1',
    fixed: '1.1',
  });

  await writeFile(file, list.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  expect(JSON.parse((await on.depotctl('advisories', file, '--json')).stdout)).toEqual(affected);
  await writeFile(file, '<html>');
  expect(await on.depotctl('advisories', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('it is no list of advisories (OSV)') as string,
  });
  const refused = await on.daemon.post('admin/system/advisories', { advisories: '{' });
  expect(refused.status).toBe(400);
});
