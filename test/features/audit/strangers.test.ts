import type * as Files from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { expect, onTestFinished, test, vi } from 'vitest';

import { findListeners, findSetId } from '../../../src/features/audit/strangers.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

vi.mock('node:fs/promises', async (load) => {
  const files = await load<typeof Files>();
  const opendir: typeof files.opendir = async (path, options) => {
    const folder = await files.opendir(path, options);
    if (!path.toString().endsWith('damaged')) return folder;
    folder.read = () => Promise.reject(new Error('EIO: i/o error, scandir'));
    folder[Symbol.asyncIterator] = async function* () {
      yield await folder.read();
    } as never;
    return folder;
  };
  return { ...files, opendir };
});

test('a folder that a damaged disk cannot read to its end keeps nothing else from being seen', async () => {
  const root = await temporaryFolder();
  for (const folder of ['a', 'damaged', 'z']) await mkdir(join(root, folder));
  await writeFile(join(root, 'a/one'), '');
  await chmod(join(root, 'a/one'), 0o4755);

  const signal = AbortSignal.timeout(20_000);
  const { found } = await findSetId(root, { isRecorded: () => false, signal });

  expect(found).toEqual(['/a/one']);
});

test('a script of no package that listens is named, though a package\u2019s program runs it', async () => {
  const folder = await temporaryFolder();
  const script = join(folder, 'server.mjs');
  await writeFile(
    script,
    "import { createServer } from 'node:net';\n" +
      "const server = createServer().listen(0, '::1', () => console.log(server.address().port));\n",
  );
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const listening = {
    protocol: 'tcp',
    address: '::1',
    port: Number(line.toString()),
    pid: child.pid,
    program: `${process.execPath} ${script}`,
  };
  const look = (isRecorded: (path: string) => boolean): Promise<unknown[]> =>
    findListeners({ isRecorded, signal: AbortSignal.timeout(20_000) });

  expect(await look((path) => path !== script)).toContainEqual(listening);
  expect(await look((path) => path !== process.execPath)).toContainEqual({
    ...listening,
    program: process.execPath,
  });
  expect(await look(() => true)).toEqual([]);
});

test('a folder that somebody has filled is named, and hides nothing in another', async () => {
  const root = await temporaryFolder();
  for (const folder of ['a', 'full', 'z']) await mkdir(join(root, folder));
  for (let index = 0; index < 30; index += 1) await writeFile(join(root, `full/${index}`), '');
  for (const path of ['a/one', 'z/two']) {
    await writeFile(join(root, path), '');
    await chmod(join(root, path), 0o4755);
  }

  const seen = await findSetId(root, {
    isRecorded: () => false,
    signal: AbortSignal.timeout(20_000),
    mostInFolder: 20,
  });

  expect(seen).toEqual({ found: ['/a/one', '/z/two'], unseen: ['/full'] });
});

test('the name of a folder hides nothing, unless an engine keeps its containers there', async () => {
  const root = await temporaryFolder();
  const paths = ['mnt/su', 'usr/lib/docker/su', 'tmp/containers/su', 'opt/docker/layer/su'];
  for (const path of paths) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), '');
    await chmod(join(root, path), 0o4755);
  }

  const signal = AbortSignal.timeout(20_000);
  const { found } = await findSetId(root, { isRecorded: () => false, signal });

  expect(found).toEqual(['/mnt/su', '/tmp/containers/su', '/usr/lib/docker/su']);
});

test('what is mounted below is another disk, and is not looked at', async () => {
  const root = await temporaryFolder();
  for (const folder of ['disk', 'dis', 'm\u00fc']) {
    await mkdir(join(root, folder));
    await writeFile(join(root, folder, 'su'), '');
    await chmod(join(root, folder, 'su'), 0o4755);
  }
  const table = ['disk', 'm\u00fc'].map(
    (name) => `2 1 8:1 / ${root}/${name} rw - ext4 /dev/a rw\n`,
  );
  const bytes = Buffer.from(table.join(''));

  const signal = AbortSignal.timeout(20_000);
  const mountTable = (): Promise<string> => Promise.resolve(bytes.toString('latin1'));
  const { found } = await findSetId(root, { isRecorded: () => false, signal, mountTable });

  expect(found).toEqual(['/dis/su']);
});

test('a name that is no UTF-8 hides neither a file nor what is in a folder', async () => {
  const root = await temporaryFolder();
  const folder = Buffer.concat([Buffer.from(`${root}/folder`), Buffer.from([0xff])]);
  await mkdir(folder);
  for (const name of [Buffer.from('/inner'), Buffer.from([0x2f, 0xfe])]) {
    const file = Buffer.concat([folder, name]);
    await writeFile(file, '');
    await chmod(file, 0o4755);
  }

  const signal = AbortSignal.timeout(20_000);
  const { found } = await findSetId(root, { isRecorded: () => false, signal });

  expect(found).toEqual(['/folder\ufffd/inner', '/folder\ufffd/\ufffd']);
});

test.each([
  [0o710, 0, []],
  [0o700, 1000, ['/data/su']],
  [0o711, 0, ['/data/su']],
])('a folder of the mode %o whose owner is %i: others come to %j', async (mode, owner, reached) => {
  const root = await temporaryFolder();
  await mkdir(join(root, 'data'));
  await writeFile(join(root, 'data/su'), '');
  await chmod(join(root, 'data/su'), 0o4755);
  await chown(join(root, 'data'), owner, 0);
  await chmod(join(root, 'data'), mode);

  const signal = AbortSignal.timeout(20_000);
  const { found } = await findSetId(root, { isRecorded: () => false, signal });

  expect(found).toEqual(reached);
});

test('a look that is broken off ends', async () => {
  await expect(
    findListeners({ isRecorded: () => false, signal: AbortSignal.abort() }),
  ).rejects.toThrow('aborted');
});
