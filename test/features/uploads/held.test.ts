import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';

import type { Problem } from '../../../src/package-management/problem.ts';
import { aroundTests } from '../../support/around-tests.ts';
import { createOwner } from '../../support/owner.ts';
import { createUploadDevice, ipk, runFile, type UploadDevice } from './upload-device.ts';

interface Held {
  file: string;
  kind: string;
}

let on: UploadDevice;

const nothingIsLeft = aroundTests(
  async () => {
    on = await createUploadDevice({}, { set: ['main.upload_max_mb=1'] });
  },
  () => on.close(),
);

const hold = async (...[file]: Parameters<UploadDevice['install']>): Promise<Held> =>
  (await (await on.send([file], { query: '?hold=1' })).json()) as Held;
const post = (name: string, id: string): Promise<Response> =>
  on.daemon.post(`admin/store/${name}`, { id });
/** Installs a file that waits. */
const installHeld = async (id: string): ReturnType<UploadDevice['install']> => {
  const { task_id: task = '' } = (await (await post('install_file', id)).json()) as {
    task_id?: string;
  };
  return on.daemon.finished(task);
};
const planOf = async (id: string): Promise<Response> =>
  on.daemon.get(`admin/store/plan?operation=upload&file=${id}`);

test('a package that is held says what it is and would change, and is installed at a word', async () => {
  const file = ipk('hello', { fields: { Depends: 'libdemo' } });
  const { file: id, kind } = await hold(file);

  expect(kind).toBe('package');
  expect(await (await planOf(id)).json()).toMatchObject({
    installs: [
      {
        name: 'hello',
        version: '1.0-1',
        reason: 'asked',
        disk_bytes: expect.any(Number) as number,
      },
      { name: 'libdemo', reason: 'dependency' },
    ],
    is_possible: true,
    file: {
      name: file.name,
      package: 'hello',
      sha256: createHash('sha256').update(file.content).digest('hex'),
    },
  });
  expect((await on.device.database()).has('hello')).toBe(false);

  expect((await installHeld(id)).state).toBe('done');
  expect((await on.device.database()).has('hello')).toBe(true);
  await expect.poll(on.left).toEqual([]);
  expect((await post('install_file', id)).status).toBe(404);
});

test('another build of a version that is there changes nothing, and its task says so', async () => {
  await on.install(ipk('known'));
  const { file: id } = await hold(ipk('known', { files: { '/usr/share/known': 'built anew\n' } }));

  expect(await (await planOf(id)).json()).toMatchObject({ installs: [], upgrades: [] });
  const { task_id: task = '' } = (await (await post('install_file', id)).json()) as {
    task_id?: string;
  };
  expect((await on.daemon.finished(task)).state).toBe('done');
  expect(await on.daemon.logOf(task)).toContain('depotd: nothing to do: known 1.0-1 is there');
  expect(await on.device.read('usr/share/known')).toBeUndefined();
});

test('a package that cannot be installed says why before it starts', async () => {
  const { file: id } = await hold(ipk('hello', { fields: { Depends: 'nowhere' } }));

  expect(await (await planOf(id)).json()).toMatchObject({
    is_possible: false,
    problems: [{ code: 'dependency_missing' }],
  });
  await post('drop_file', id);
  nothingIsLeft();
});

test.each([
  ['an older version', '0.9-1', {}, 'not_allowed'],
  ['a newer one that lacks something', '2.0-1', { Depends: 'nowhere' }, 'dependency_missing'],
])('%s of what is installed says before it starts what the task ends with', async (...given) => {
  const [, version, fields, code] = given;
  await on.install(ipk('hello'));
  const { file: id } = await hold(ipk('hello', { version, fields }));

  const plan = (await (await planOf(id)).json()) as { problems: Problem[]; is_possible: boolean };
  const ended = await installHeld(id);

  expect([plan.is_possible, plan.problems.map((problem) => problem.code)]).toEqual([false, [code]]);
  expect([ended.state, ended.error_code]).toEqual(['failed', code]);
  expect((await on.device.database()).get('hello')?.version).toBe('1.0-1');
});

test('a program that is held says its size and hash, and goes when it is dropped', async () => {
  const file = runFile('touch "$0.ran"');
  const { file: id } = await hold(file);

  expect(await (await planOf(id)).json()).toMatchObject({
    installs: [],
    is_possible: true,
    file: { kind: 'program', size_bytes: file.content.length },
  });
  expect(await on.left()).toEqual([`${id}.run`]);
  expect(await (await post('drop_file', id)).json()).toEqual({ code: 0 });
  expect(await on.left()).toEqual([]);
  expect((await planOf(id)).status).toBe(404);
  nothingIsLeft();
});

test.each([
  ['an unclear hold', '', { hold: 'on' }],
  ['an empty hold', '', { hold: '' }],
  ['a hold that the address says otherwise', '?hold=1', { hold: '0' }],
  ['a parameter that nobody knows', '', { dry_run: '1' }],
])('a form with %s is refused, and its file neither kept nor run', async (_, query, fields) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const { name, content } = runFile(':');
  form.append('file', new Blob([content]), name);
  const url = `${on.daemon.url}${on.daemon.base}/admin/store/upload${query}`;
  const answer = await fetch(url, { method: 'POST', body: form });

  expect(answer.status).toBe(400);
  expect(((await answer.json()) as { msg: string }).msg).toContain(Object.keys(fields)[0]);
  expect(await (await on.daemon.get('admin/system/tasks/status')).json()).toEqual({});
  await expect.poll(on.left).toEqual([]);
  nothingIsLeft();
});

test('a form may say that its file is to be held', async () => {
  const form = new FormData();
  for (const name of ['hold', '_charset_']) form.append(name, '1');
  const { name, content } = runFile(':');
  form.append('file', new Blob([content]), name);
  const url = `${on.daemon.url}${on.daemon.base}/admin/store/upload?hold=1`;

  expect(await (await fetch(url, { method: 'POST', body: form })).json()).toMatchObject({
    kind: 'program',
  });
  expect(await on.left()).toHaveLength(1);
});

test('what is held counts to what may be sent, and a restart drops it', async () => {
  const large = (letter: string): ReturnType<typeof runFile> =>
    runFile(`# ${letter.repeat(600_000)}`);
  await hold(large('a'));
  expect((await on.send([large('b')], { query: '?hold=1' })).status).toBe(413);
  expect(await on.left()).toHaveLength(1);

  await on.daemon.kill('SIGKILL');
  await on.daemon.restart();

  expect(await on.left()).toEqual([]);
  nothingIsLeft();
});

test('a file that waits is still there when its installation was refused for the moment', async () => {
  const full = await createUploadDevice({}, { set: ['main.queue_max=1'] });
  onTestFinished(() => full.close());
  const { file: id } = (await (
    await full.send([ipk('hello')], { query: '?hold=1' })
  ).json()) as Held;
  const install = (): Promise<Response> => full.daemon.post('admin/store/install_file', { id });
  const { task_id: busy = '' } = (await (await full.send([full.held])).json()) as {
    task_id?: string;
  };
  await expect.poll(async () => (await full.daemon.status(busy)).state).toBe('running');
  await full.daemon.submit('install', { package: 'notes' });

  const refused = await install();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
  await full.goOn(busy);
  await expect.poll(async () => (await install()).status).toBe(200);

  await expect.poll(async () => (await full.device.database()).has('hello')).toBe(true);
  await expect.poll(full.left).toEqual([]);
});

test('at most four files wait', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await hold(runFile(':', `${name}.run`));

  const refused = await on.send([runFile(':')], { query: '?hold=1' });

  expect(refused.status).toBe(503);
  expect(await on.left()).toHaveLength(4);
});

test('only the session that sent a file can plan, install or drop it', async () => {
  const other = await createUploadDevice({}, { set: ['main.auth=password'] });
  onTestFinished(() => other.close());
  const owner = createOwner(other.daemon);
  await owner.setFirstPassword('secret');
  const [one, two] = [await owner.logIn('secret'), await owner.logIn('secret')];
  const sent = await other.send([runFile(':')], { query: '?hold=1', headers: one.session });
  const { file: id } = (await sent.json()) as Held;
  const ways = [
    ['GET', `plan?operation=upload&file=${id}`],
    ['POST', `install_file?id=${id}`],
    ['POST', `drop_file?id=${id}`],
  ] as const;
  const statusOf = async (
    [method, path]: readonly [string, string],
    { session, token }: typeof one,
  ): Promise<number> => {
    const url = `${other.daemon.url}${other.daemon.base}/admin/store/${path}`;
    const withToken = method === 'POST' ? `${url}&token=${token}` : url;
    return (await fetch(withToken, { method, headers: session })).status;
  };

  for (const way of ways) expect(await statusOf(way, two)).toBe(404);
  const withoutKey = Object.fromEntries(
    Object.entries(one.session).filter(([n]) => n === 'cookie'),
  );
  expect(await statusOf(ways[0], { ...one, session: withoutKey as typeof one.session })).toBe(403);
  expect(await statusOf(ways[0], one)).toBe(200);
});
