import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { LANGUAGES, voiceOf } from '../../../src/languages/languages.ts';
import { runCommand } from '../../device/command.ts';
import { createTar } from '../../device/tar.ts';
import { createUploadDevice, type UploadDevice } from '../uploads/upload-device.ts';

/** iStore's backup routes, as its bundle calls them: all in the query, and a file in a form. */

let on: UploadDevice;

beforeAll(async () => {
  on = await createUploadDevice();
  await on.daemon.finished(await on.daemon.submit('install', { package: 'demo' }));
});
afterAll(() => on.close());

const get = async (operation: string): Promise<unknown> =>
  (await on.daemon.get(`admin/store/${operation}`)).json();
const post = async (operation: string, params: Record<string, string>): Promise<unknown> =>
  (await on.daemon.post(`admin/store/${operation}`, params)).json();

async function send(
  content: Uint8Array,
  token?: string,
): Promise<{ status: number; body: unknown }> {
  const form = new FormData();
  form.append('light.tar.gz', new Blob([content]), 'light.tar.gz');
  const query = new URLSearchParams({ token: token ?? (await on.daemon.token()) });
  const url = `${on.daemon.url}${on.daemon.base}/admin/store/light_restore?${query.toString()}`;
  const answer = await fetch(url, {
    method: 'POST',
    body: form,
  });
  return { status: answer.status, body: await answer.json() };
}

/** A list that stands behind so many members. */
function behind(count: number, text: string): Buffer {
  const empty = Array.from({ length: count }, () => ({ name: 'x', mode: 0o600 }));
  const list = { name: 'etc/istore/app.list', mode: 0o600, content: Buffer.from(text) };
  const entries = empty.map((entry) => ({ ...entry, content: Buffer.alloc(0) }));
  return gzipSync(createTar([...entries, list]));
}

const backupOf = (text: string, name = 'etc/istore/app.list'): Buffer =>
  gzipSync(createTar([{ name, mode: 0o644, content: Buffer.from(text) }]));

test('a file with a wrong token brings nothing back', async () => {
  const { status, body } = await send(backupOf('demo\n'), 'wrong');
  expect([status, body]).toEqual([403, expect.objectContaining({ code: 403 })]);
});

test('the page learns what can be backed up', async () => {
  expect(await get('get_support_backup_features')).toEqual({
    code: 200,
    msg: '["light_backup","local_backup"]',
  });
  expect(await get('get_backup_app_list')).toEqual({ code: 200, msg: '["app-meta-demo"]' });
  expect(await get('get_backup_app_list_file_path')).toEqual({
    code: 200,
    msg: '/etc/istore/app.list',
  });
  expect(await get('get_local_backup_dir_path')).toEqual({ code: 500, msg: 'Path Unknown' });
});

test('a light backup is done when it is answered, and its file is taken again', async () => {
  expect((await on.daemon.get('admin/store/get_light_backup_file')).status).toBe(404);
  expect(await post('light_backup', {})).toEqual({ code: 200, msg: 'backup success' });

  const file = await on.daemon.get('admin/store/get_light_backup_file');
  expect(file.headers.get('content-type')).toBe('application/gzip');
  const content = new Uint8Array(await file.arrayBuffer());
  expect((await send(content)).status).toBe(200);
  expect(await get('backups')).toMatchObject({ backups: [{ reason: 'asked', packages: 1 }] });
});

test("of a backup of iStore's the apps are installed from the feeds, and nothing is unpacked", async () => {
  const file = gzipSync(
    createTar([
      { name: 'etc/shadow', mode: 0o644, content: Buffer.from('root::0:0:::::\n') },
      { name: '../../etc/passwd', mode: 0o644, content: Buffer.from('x') },
      {
        name: 'etc/istore/app.list',
        mode: 0o644,
        content: Buffer.from('app-meta-demo\napp-meta-tiny-01\n--force-depends\n$(id)\nlibc\n'),
      },
    ]),
  );

  const { status, body } = await send(file);

  expect([status, body]).toMatchObject([200, { code: 0 }]);
  const { task_id: task } = body as { task_id: string };
  expect(await on.daemon.finished(task)).toMatchObject({ kind: 'install', package: 'tiny-01' });
  expect(await on.device.read('etc/shadow')).toBeUndefined();
  expect(await on.left()).toEqual([]);
});

const NEITHER = 'cannot use the backup: it is a backup neither of iStore nor of depotd';
const DAMAGED = 'cannot use the backup: it was changed, or its end is missing';

test.each([
  ['no archive', Buffer.from('hello'), NEITHER],
  ['a list behind thousands of empty members', behind(20_000, 'app-meta-demo\n'), NEITHER],
  ['an archive without a list', backupOf('app-meta-demo\n', 'etc/other'), NEITHER],
  ['a list that is cut off', backupOf('app-meta-demo\n').subarray(0, 40), DAMAGED],
  ['a list in another place', backupOf('app-meta-demo\n', '../etc/istore/app.list'), NEITHER],
  [
    'only what is there already',
    backupOf('app-meta-demo\n'),
    'cannot restore anything: each app that it names is installed',
  ],
])('%s is refused with the sentence for it, and nothing of it stays', async (_, content, said) => {
  expect((await send(content)).body).toMatchObject({ code: 1, stderr: said });
  for (const { code } of LANGUAGES) {
    expect(voiceOf(code).say(said)).not.toMatch(/[a-z]{2,} [a-z]{2,}/);
  }
  expect(await on.left()).toEqual([]);
});

test('a backup in a folder of a disk is made, listed and brought back', async () => {
  await mkdir(join(on.device.root, 'mnt/disk'), { recursive: true });
  const path = '/mnt/disk/istore_backup';
  const started = (await post('local_backup', { path, type: 'istore' })) as { task_id: string };
  expect((await on.daemon.finished(started.task_id)).state).toBe('done');
  const folder = join(on.device.root, path);
  await writeFile(join(folder, 'backup_istore_2026-0101-0101.backup.tar.gz'), backupOf('', 'x'));
  await writeFile(join(folder, 'other.txt'), '');

  const { msg } = (await get(
    `get_available_backup_file_list?path=${encodeURIComponent(path)}&type=istore`,
  )) as { msg: string };
  const names = JSON.parse(msg) as string[];

  expect(names).toEqual([
    'backup_istore_2026-0101-0101.backup.tar.gz',
    expect.stringMatching(/^depotd-backup-[0-9a-f]{32}\.tar\.gz$/) as string,
  ]);
  expect(await get('get_local_backup_dir_path')).toEqual({ code: 200, msg: path });
  const list = 'backup_istore_2026-0101-0102';
  await writeFile(
    join(folder, `${list}.backup.tar.gz`),
    backupOf('app-meta-tiny-02\n', `${list}/app.list`),
  );
  expect(
    await post('local_restore', { path: `${path}/${list}.backup.tar.gz`, type: 'istore' }),
  ).toMatchObject({ code: 0 });
  await symlink('/etc/passwd', join(folder, 'link.tar.gz'));
  expect(await post('local_restore', { path: `${path}/link.tar.gz` })).toMatchObject({ code: 1 });
  expect(await readdir(folder)).toContain('other.txt');
});

test('what stands in a folder that is a container’s, too, is not waited for', async () => {
  const folder = join(on.device.root, 'mnt/shared');
  await mkdir(folder, { recursive: true });
  await runCommand(['mkfifo', join(folder, 'backup_istore_2026-1.backup.tar.gz')]);

  const answer = await post('local_restore', {
    path: '/mnt/shared/backup_istore_2026-1.backup.tar.gz',
  });

  expect(answer).toMatchObject({ code: 1, stderr: NEITHER });
});

test('the whole system is neither backed up nor restored, and says so', async () => {
  for (const operation of ['local_backup', 'local_restore']) {
    expect(await post(operation, { path: '/mnt/disk/x', type: 'overlay' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('whole system') as string,
    });
  }
  expect((await on.daemon.post('admin/store/local_backup', { path: 'x' })).status).toBe(400);
});

test('nothing of a file that a daemon was killed over stays in memory', async () => {
  const left = join(on.folder, `${'a'.repeat(32)}.restore`);
  await writeFile(left, 'half of it');
  await on.daemon.kill('SIGKILL');
  await on.daemon.restart();

  await expect.poll(() => readdir(on.folder)).not.toContain(basename(left));
});
