import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import type { Job } from '../../../src/jobs/job.ts';
import { aroundTests } from '../../support/around-tests.ts';
import { asOfAnotherBoot, forgetEnd } from '../../support/power-cut.ts';
import {
  createUploadDevice,
  ipk,
  runFile,
  type RunRecord,
  type UploadDevice,
} from './upload-device.ts';

let on: UploadDevice;
const nothingIsLeft = aroundTests(
  async () => {
    on = await createUploadDevice();
  },
  () => on.close(),
);

const run = async (
  operation: string,
  params: Readonly<Record<string, string>>,
): ReturnType<UploadDevice['install']> =>
  on.daemon.finished(await on.daemon.submit(operation, params));
const unrun = (record: RunRecord | undefined): ReturnType<UploadDevice['install']> =>
  run('unrun', { id: record?.id ?? '' });

test('unrun removes just what came with the upload, and its record', async () => {
  expect((await run('install', { package: 'libonce' })).state).toBe('done');
  await on.install(ipk('hello', { fields: { Depends: 'libdemo, libonce' } }));
  const [record] = await on.records();

  expect(await unrun(record)).toMatchObject({ state: 'done', kind: 'unrun' });
  expect(await installed()).toEqual(['libc', 'libonce']);
  expect(await on.records()).toEqual([]);
});

test('unrun leaves what another package has come to need, and says so', async () => {
  await on.install(ipk('hello', { fields: { Depends: 'libdemo' } }));
  await on.install(ipk('other', { fields: { Depends: 'libdemo' } }));
  const [first, second] = await on.records();

  const id = await on.daemon.submit('unrun', { id: first?.id ?? '' });
  expect((await on.daemon.finished(id)).state).toBe('done');
  expect(await on.daemon.logOf(id)).toContain('libdemo stays: other packages need it');
  expect(await installed()).toEqual(['libc', 'libdemo', 'other']);
  expect(await on.records()).toEqual([second]);
});

test('unrun undoes what a program installed', async () => {
  const opkg = `opkg -o ${on.device.root} --force-postinstall`;
  expect((await on.install(runFile(`${opkg} install demo-app`))).state).toBe('done');
  expect(await installed()).toEqual(['demo-app', 'libc', 'libdemo']);
  const [record] = await on.records();
  await unrun(record);
  expect(await installed()).toEqual(['libc']);
  nothingIsLeft();
});

test('unrun of what has gone already drops the record', async () => {
  await on.install(ipk('hello'));
  await run('remove', { package: 'hello' });
  const [record] = await on.records();
  expect((await unrun(record)).state).toBe('done');
  expect(await on.records()).toEqual([]);
  nothingIsLeft();
});

test('unrun of an upload over a dependency leaves it as one: it goes with what needs it', async () => {
  await run('install', { package: 'demo-app' });
  await on.install(ipk('libdemo', { version: '99' }));
  const [record] = await on.records();

  await unrun(record);

  expect(await installed()).toEqual(['demo-app', 'libc', 'libdemo']);
  await run('remove', { package: 'demo-app' });
  expect(await installed()).toEqual(['libc']);
  nothingIsLeft();
});

test('unrun that fails keeps the record', async () => {
  await on.install(ipk('hello', { scripts: { prerm: '#!/bin/sh\nexit 1\n' } }));
  const [record] = await on.records();
  expect((await unrun(record)).state).toBe('failed');
  expect(await on.records()).toEqual([record]);
});

test('del_record forgets the upload, and what it brought stays', async () => {
  await on.install(ipk('hello'));
  const [record] = await on.records();
  const answer = await on.daemon.post('admin/store/del_record', { id: record?.id ?? '' });
  expect([answer.status, await answer.json()]).toEqual([200, { code: 0 }]);
  expect(await on.records()).toEqual([]);
  expect(await installed()).toEqual(['hello', 'libc']);
});

test('records outlive the daemon', async () => {
  await on.install(ipk('hello'));
  const before = await on.records();
  await on.daemon.restart();
  expect(await on.records()).toEqual(before);
});

test('a record that cannot be read does not take the others with it', async () => {
  await on.install(ipk('hello'));
  const before = await on.records();
  const note = join(on.device.root, 'etc/depotd/run-records.json');
  const written = JSON.parse(await readFile(note, 'utf8')) as object[];
  await writeFile(note, JSON.stringify([{ id: 7, from: 'another version' }, null, ...written]));

  expect(await on.records()).toEqual(before);
  await on.install(ipk('other'));
  expect((await on.records()).map(({ file }) => file)).toEqual([
    before[0]?.file,
    ipk('other').name,
  ]);
});

test('an upload that a power cut hit before its end was recorded leaves no record of what is removed again', async () => {
  const state = (name: string): string => join(on.device.root, 'etc/depotd', name);
  const statusBefore = await readFile(join(on.device.root, 'usr/lib/opkg/status'));
  await on.install(ipk('hello'));
  await on.daemon.kill('SIGKILL');
  const records = (await readFile(state('jobs.jsonl'), 'utf8')).trimEnd().split('\n');
  const under = records.findLast((line) => (JSON.parse(line) as Job).state === 'running') ?? '';
  const job = { ...(JSON.parse(under) as Job), bootId: '00000000-0000-0000-0000-000000000000' };
  await writeFile(state('jobs.jsonl'), `${JSON.stringify(job)}\n`);
  await writeFile(state('opkg-status.before'), statusBefore);

  await on.daemon.restart();

  expect(await on.daemon.finished(job.id)).toMatchObject({ state: 'interrupted' });
  expect(await installed()).toEqual(['libc']);
  expect(await on.records()).toEqual([]);
  nothingIsLeft();
});

test('an upload, and its undoing, that had done all when the device went down are done', async () => {
  const journal = join(on.device.root, 'etc/depotd/jobs.jsonl');
  const goDownUnder = async (task: string): Promise<void> => {
    await on.daemon.finished(task);
    await on.daemon.kill('SIGKILL');
    await forgetEnd(journal, task);
    await asOfAnotherBoot(journal);
    await on.daemon.restart();
  };
  const opkg = `opkg -o ${on.device.root} --force-postinstall`;
  const sent = await on.send([runFile(`${opkg} install demo-app`)]);
  const { task_id: upload } = (await sent.json()) as { task_id: string };
  await goDownUnder(upload);
  expect(await on.daemon.finished(upload)).toMatchObject({ state: 'done', exit_code: 0 });
  expect(await installed()).toEqual(['demo-app', 'libc', 'libdemo']);
  const [record] = await on.records();

  const undoing = await on.daemon.submit('unrun', { id: record?.id ?? '' });
  await goDownUnder(undoing);
  expect(await on.daemon.finished(undoing)).toMatchObject({ state: 'done', exit_code: 0 });
  expect(await installed()).toEqual(['libc']);
  nothingIsLeft();
});

test.each(['unrun', 'del_record'])(
  '%s wants a record that is there, and a token',
  async (operation) => {
    const path = `admin/store/${operation}`;
    expect((await on.daemon.post(path, { id: '../../jobs' })).status).toBe(400);
    expect((await on.daemon.post(path, {})).status).toBe(400);
    expect((await on.daemon.post(path, { id: 'a'.repeat(32), token: 'wrong' })).status).toBe(403);
    expect((await on.daemon.get(path)).status).toBe(405);
    nothingIsLeft();
  },
);

test('what is gone already is no mistake to forget, and cannot be undone', async () => {
  const id = `1795000000-${'a'.repeat(32)}`;
  const forgotten = await on.daemon.post('admin/store/del_record', { id });
  const undone = await on.daemon.post('admin/store/unrun', { id });

  expect([forgotten.status, await forgotten.json()]).toEqual([200, { code: 0 }]);
  expect([undone.status, await undone.json()]).toEqual([
    200,
    { code: 1, stdout: '', stderr: `cannot find the record ${id}` },
  ]);
  nothingIsLeft();
});

test('a record is named as iStore names it, and a program that brought no package has none', async () => {
  expect((await on.install(runFile('true'))).state).toBe('done');
  await on.install(ipk('hello'));

  const records = await on.records();
  expect(records.map(({ id, ts, md5 }) => id === `${ts}-${md5}`)).toEqual([true]);
  expect(records[0]?.md5).toMatch(/^[0-9a-f]{32}$/);
});

test('what iStore recorded is listed, undone and forgotten; what it did not write so is left out', async () => {
  const folder = join(on.device.root, 'usr/share/istore/run-records');
  await mkdir(folder, { recursive: true });
  const write = async (ts: number, head: object | string, packages: string): Promise<string> => {
    const id = `${ts}-${'b'.repeat(32)}`;
    const first = typeof head === 'string' ? head : JSON.stringify({ id, ts, ...head });
    await writeFile(join(folder, `${id}.txt`), `${first}\n${packages}`);
    return id;
  };
  await run('install', { package: 'demo-app' });
  const md5 = 'b'.repeat(32);
  const undone = await write(
    1000,
    { md5, file: 'tool.run' },
    'libdemo\ndemo-app\n--force-depends\n',
  );
  const forgotten = await write(1001, { md5, file: 'ol\u0007der.ipk' }, 'libonce\n');
  await write(1002, 'no JSON', 'libc\n');
  await write(1003, { md5, file: 'x', id: `1004-${'b'.repeat(32)}` }, 'libc\n');
  await writeFile(
    join(folder, 'other.txt'),
    JSON.stringify({ id: 'other', ts: 1, md5, file: 'x' }),
  );

  expect(await on.records()).toEqual([
    { id: undone, ts: 1000, md5, file: 'tool.run' },
    { id: forgotten, ts: 1001, md5, file: 'older.ipk' },
  ]);
  expect((await run('unrun', { id: undone })).state).toBe('done');
  await on.daemon.post('admin/store/del_record', { id: forgotten });
  expect(await on.records()).toEqual([]);
  expect(await installed()).toEqual(['libc']);
  nothingIsLeft();
});

async function installed(): Promise<string[]> {
  const entries = [...(await on.device.database())];
  return entries
    .filter(([, { state }]) => state === 'installed')
    .map(([name]) => name)
    .sort();
}
