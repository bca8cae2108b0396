import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import { runCommand } from '../../device/command.ts';
import { packInstalled } from '../../../src/package-management/apk/package-file/repack.ts';
import { createLocations } from '../../../src/package-management/apk/database/apk-locations.ts';
import type { Config } from '../../../src/config/config.ts';
import { createPaths } from '../../../src/device/paths.ts';
import { oneProgram as one, openApkStore, type ApkStore } from './open-store.ts';
import { putAnew } from './put-anew.ts';

/** Records of apk's in whose place something else stands, or that nobody but apk can use. */
let store: ApkStore;
beforeAll(async () => {
  store = await openApkStore({ packages: [one('plain', '1.0-r1')] });
});
afterAll(() => store.close());

const at = (file: string): string => join(store.device.root, file);

/** Whatever stood there: the record is put back, and the next job works. */
afterEach(async () => {
  await store.clear();
  expect((await store.run('install', { package: 'plain' })).state).toBe('done');
  await store.clear();
});

async function refusal(operation: string): Promise<unknown[]> {
  const params = operation === 'update' ? undefined : { package: 'plain' };
  const answer = await store.daemon.post(`admin/store/${operation}`, params);
  return [answer.status, ((await answer.json()) as { msg: string }).msg];
}

const KINDS: Record<string, (file: string) => Promise<unknown>> = {
  'a fifo': (file) => runCommand(['mkfifo', at(file)]),
  'a folder': (file) => mkdir(at(file)),
  'a link to a device without an end': (file) => symlink('/dev/zero', at(file)),
};
const RECORDS = [
  'etc/apk/world',
  'lib/apk/db/installed',
  'lib/apk/db/scripts.tar.gz',
  'lib/apk/db/triggers',
];
describe.each(Object.entries(KINDS))('%s', (_, place) => {
  test.each(RECORDS)('in the place of %s is named, and keeps nobody waiting', async (file) => {
    await rename(at(file), at(`${file}.aside`));
    await place(file);
    try {
      for (const operation of ['install', 'remove', 'update']) {
        expect(await refusal(operation)).toEqual([
          503,
          expect.stringMatching(new RegExp(`${file}:? (it )?is no file`)),
        ]);
      }
      expect(await store.installed()).toEqual([]);
      const answer = await store.daemon.get('admin/store/available');
      expect([answer.status, await answer.text()]).toEqual([
        expect.toSatisfy((status: number) => status === 200 || status === 503),
        expect.any(String),
      ]);
    } finally {
      await rm(at(file), { recursive: true });
      await rename(at(`${file}.aside`), at(file));
    }
  });
});

test.each(['world', 'installed'])(
  'whatever needs %s says with a code and a remedy that it cannot be read',
  async (name) => {
    const file = name === 'world' ? 'etc/apk/world' : 'lib/apk/db/installed';
    const said = { error_code: 'damaged_database', remedy: expect.stringMatching(/./) as string };
    await rename(at(file), at(`${file}.aside`));
    try {
      for (const operation of ['install', 'hold', 'release']) {
        const answer = await store.daemon.post(`admin/store/${operation}`, { package: 'libc' });
        expect([operation, await answer.json()]).toEqual([
          operation,
          expect.objectContaining(said),
        ]);
      }
      if (name === 'world') return;
      const list = await store.daemon.get('admin/system/sbom');
      expect(await list.json()).toMatchObject(said);
      const backup = await store.daemon.finished(await store.daemon.submit('backup'));
      expect(backup).toMatchObject({ state: 'failed', ...said });
    } finally {
      await rename(at(`${file}.aside`), at(file));
    }
  },
);

test.each(['etc/apk/arch', 'etc/apk/keys/another.pem', 'etc/apk/repositories.d/another.list'])(
  'a fifo called %s is named, and keeps nobody waiting',
  async (file) => {
    await rename(at(file), at(`${file}.aside`)).catch(() => undefined);
    await runCommand(['mkfifo', at(file)]);
    try {
      for (const operation of ['remove', 'update']) {
        expect(await refusal(operation)).toEqual([503, `cannot run apk: ${at(file)} is no file`]);
      }
      const plan = await store.daemon.get('admin/store/plan?operation=remove&package=plain');
      expect(await plan.json()).toMatchObject({
        problems: [
          {
            code: 'damaged_database',
            message: `cannot run apk: ${at(file)} is no file`,
            remedy: `Put a file in the place of ${at(file)}, then try again.`,
          },
        ],
        is_possible: false,
      });
    } finally {
      await rm(at(file));
      await rename(at(`${file}.aside`), at(file)).catch(() => undefined);
    }
  },
);

test.each([
  ['ends lines as Windows does', (text: string) => text.replaceAll('\n', '\r\n'), 'base-files\\r'],
  ['has tabs', (text: string) => text.replaceAll('\n', '\t\n'), 'base-files\\t'],
])('a world that %s is refused by its line: apk reads other names in it', async (_, edit, word) => {
  const sound = await readFile(at('etc/apk/world'), 'utf8');
  await writeFile(at('etc/apk/world'), edit(sound));
  try {
    expect(await refusal('install')).toEqual([
      503,
      expect.stringContaining(`line 1: "${word}" is no dependency`),
    ]);
  } finally {
    await writeFile(at('etc/apk/world'), sound);
  }
});

test('what world names twice is not removed, and the answer says why', async () => {
  await store.device.apk('add', 'plain');
  const sound = await readFile(at('etc/apk/world'), 'utf8');
  await writeFile(at('etc/apk/world'), `${sound}plain\n`);

  const { state, error, remedy } = await store.run('remove', { package: 'plain' });
  await writeFile(at('etc/apk/world'), sound);

  expect([state, error, remedy]).toEqual([
    'failed',
    'cannot remove plain: /etc/apk/world asks for plain more than once',
    'Leave one line of plain in /etc/apk/world, then try again.',
  ]);
});

describe('scripts that are not packed, as some images have them', () => {
  const [packed, plain] = ['lib/apk/db/scripts.tar.gz', 'lib/apk/db/scripts.tar'];
  beforeAll(async () => {
    await writeFile(at(plain), gunzipSync(await readFile(at(packed))));
    await rm(at(packed));
  });

  const said = (words: string): string => `#!/bin/sh\necho "${words}"\n`;
  const sent = (version: string): Buffer =>
    createApk(one('sent', version, { scripts: { 'pre-deinstall': said(`sent ${version} goes`) } }))
      .bytes;

  test.each([
    ['empty', () => Buffer.alloc(0), 'it is empty'],
    ['full of zeros', () => Buffer.alloc(40_960), 'it is full of zeros'],
    ['cut', (sound: Buffer) => sound.subarray(0, 700), 'it ends in the middle'],
    ['garbage', () => Buffer.alloc(4096, 'garbage'), 'it is no tar archive'],
  ])('%s: 503 with the reason, and they are in the copy', async (_, damage, reason) => {
    await store.upload(sent('1.0-r1'));
    await store.recordsCopied();
    const sound = await readFile(at(plain));
    await putAnew(at(plain), damage(sound));
    try {
      expect(await refusal('install')).toEqual([
        503,
        expect.stringMatching(new RegExp(`scripts.tar: ${reason}`)),
      ]);
      expect(await readFile(at('etc/depotd/apk/before/scripts.tar'))).toEqual(sound);
    } finally {
      await writeFile(at(plain), sound);
    }
  });

  test('come with a package that is packed back into a file', async () => {
    await store.upload(sent('1.0-r1'));
    const main = {
      root: store.device.root,
      state_dir: '/etc/depotd',
      log_dir: '/l',
      upload_dir: '/u',
    };
    const paths = createPaths({ main } as Config);
    const target = at('tmp/sent.apk');
    await packInstalled({
      name: 'sent',
      target,
      root: store.device.root,
      locations: createLocations(paths),
    });
    await store.clear();

    await store.upload(await readFile(target));
    const { log } = await store.run('remove', { package: 'sent' });

    expect(log).toContain('sent 1.0-r1 goes');
  });
});
