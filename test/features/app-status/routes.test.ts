import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { COUNTING, createEntryDevice, RUNNING, type EntryDevice } from './entry-device.ts';

let on: EntryDevice;

beforeAll(async () => {
  on = await createEntryDevice();
});
afterAll(() => on.close());

afterEach(async () => {
  await on.removeScripts();
  await rm(join(on.device.root, 'etc/config/demo'), { force: true });
  await rm(join(on.device.root, 'etc/config/folder'), { recursive: true, force: true });
});

describe('configured', () => {
  test.each([
    ['demo', true],
    ['absent', false],
    ['folder', false],
  ])('tells of %s whether its file is there: %s', async (uci, configured) => {
    await writeFile(join(on.device.root, 'etc/config/demo'), '');
    await mkdir(join(on.device.root, 'etc/config/folder'));

    expect(await (await on.daemon.get(`admin/store/configured?uci=${uci}`)).json()).toEqual({
      code: 200,
      configured,
    });
  });

  test.each(['', '..', '../passwd', 'a/b', 'a.b', 'a b', 'a%00', '$(id)', 'ä'])(
    'refuses the name "%s"',
    async (uci) => {
      const answer = await on.daemon.get(`admin/store/configured?uci=${encodeURIComponent(uci)}`);
      expect(answer.status).toBe(400);
    },
  );
});

describe('entrysh', () => {
  test('tells what the script of the app prints, under the name of the app', async () => {
    await on.script(
      'fast',
      `echo "{\\"app\\":\\"other\\",\\"docker\\":false,\\"running\\":true,\\"href\\":\\"http://$2:8085\\",\\"rpcPort\\":\\"6800\\"}"`,
    );

    expect(await on.entries({ package: 'fast', hostname: 'Router.lan' })).toEqual({
      code: 200,
      status: [
        {
          app: 'fast',
          docker: false,
          running: true,
          href: 'http://router.lan:8085',
          rpcPort: '6800',
        },
      ],
      errors: [],
    });
  });

  test('without a name it asks every app that says it can be asked, and no other', async () => {
    for (const app of ['fast', 'second', 'plain']) await on.script(app, RUNNING);

    const { status, errors } = await on.entries({ hostname: 'nas' });
    expect(status.map(({ app }) => app).sort()).toEqual(['fast', 'second']);
    expect(errors.map(({ app, code }) => [app, code]).sort()).toEqual([
      ['lost', 404],
      ['rich', 404],
    ]);
  });

  test.each([
    ['an app that is not installed', 'absent', undefined],
    ['an app without the flag', 'plain', RUNNING],
    ['an app without a script', 'lost', undefined],
  ])('%s is an error item with 404', async (_, app, body) => {
    if (body !== undefined) await on.script(app, body);
    const { status, errors } = await on.entries({ package: app, hostname: 'nas' });
    expect({ status, codes: errors.map(({ code }) => code) }).toEqual({ status: [], codes: [404] });
  });

  test('a script that may not be executed is read by the shell, one that may by what its first line says', async () => {
    await on.script('fast', `echo "{\\"running\\":true,\\"by\\":\\"$0\\"}"`);
    await chmod(on.scriptFile('fast'), 0o644);
    expect((await on.entries({ package: 'fast', hostname: 'nas' })).status).toMatchObject([
      { running: true },
    ]);

    await writeFile(
      on.scriptFile('second'),
      `#!/usr/bin/env perl\nprint '{"running":true,"by":"perl"}';\n`,
      { mode: 0o755 },
    );
    expect((await on.entries({ package: 'second', hostname: 'nas' })).status).toMatchObject([
      { by: 'perl' },
    ]);
  });
});

describe('what entrysh takes', () => {
  test.each([
    'nas',
    'NAS',
    'nas.lan',
    'my_nas',
    'a-b.c',
    'xn--bcher-kva.example',
    '192.168.1.1',
    '[::1]',
    '[fe80::1]',
    '[::ffff:192.168.1.1]',
    `${'a'.repeat(63)}.lan`,
  ])('the host name %s', async (hostname) => {
    expect((await on.post({ hostname })).status).toBe(200);
  });

  test.each([
    '',
    ' ',
    '.',
    'nas:80',
    'nas.',
    'a..b',
    '-nas',
    'nas-',
    'a b',
    'bücher.example',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3.04',
    '::1',
    '[::1',
    '[::1]:80',
    '[fe80::1%eth0]',
    '[fe80::1%25eth0]',
    '[]',
    '[1.2.3.4]',
    '$(id)',
    '`id`',
    'a;id',
    "a'b",
    'a"b',
    'a|b',
    'a&b',
    'a\nb',
    'a\0b',
    '../etc',
    'a/b',
    'http://nas',
    'a@b',
    '--help',
    `${'a'.repeat(64)}.lan`,
    `${'a.'.repeat(130)}b`,
  ])('not the host name %j, and then no script runs', async (hostname) => {
    await on.script('fast', COUNTING);
    expect((await on.post({ package: 'fast', hostname })).status).toBe(400);
    expect(await on.runsOf('fast')).toBe(0);
  });

  test.each([
    { package: '../fast', hostname: 'nas' },
    { package: 'fast,', hostname: 'nas' },
    { package: 'fast, second', hostname: 'nas' },
    { package: '-rf', hostname: 'nas' },
    { package: 'a;b', hostname: 'nas' },
    { package: `a${',a'.repeat(2100)}`, hostname: 'nas' },
    { hostname: 'nas', update: 'yes' },
    {},
  ])('not the parameters %#', async (params) => {
    expect((await on.post(params)).status).toBe(400);
  });

  test('an empty list of packages is none', async () => {
    await on.script('fast', RUNNING);
    expect((await on.entries({ package: '', hostname: 'nas' })).status).toHaveLength(1);
  });
});
