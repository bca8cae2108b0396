import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { aroundTests } from '../../support/around-tests.ts';
import { createTar } from '../../device/tar.ts';
import {
  createUploadDevice,
  exists,
  ipk,
  runFile,
  type SentFile,
  type UploadDevice,
} from './upload-device.ts';

let on: UploadDevice;

const nothingIsLeft = aroundTests(
  async () => {
    on = await createUploadDevice({}, { set: ['main.upload_max_mb=1'] });
  },
  () => on.close(),
);

describe('an upload', () => {
  test('of a package is installed, kept as a record, and its file goes with its job', async () => {
    const file = ipk('hello', { fields: { Depends: 'libdemo' } });
    const status = await on.install(file);

    expect(status).toMatchObject({
      state: 'done',
      kind: 'upload',
      exit_code: 0,
      command: `install ${file.name}`,
    });
    expect([...(await on.device.database()).keys()].sort()).toEqual(['hello', 'libc', 'libdemo']);
    expect(await on.records()).toEqual([
      {
        id: expect.stringMatching(/^\d{10}-[0-9a-f]{32}$/) as string,
        ts: expect.any(Number) as number,
        md5: createHash('md5').update(file.content).digest('hex'),
        file: file.name,
      },
    ]);
    await expect.poll(on.left).toEqual([]);
  });

  test('of a program is run on a terminal, with a clean environment and no arguments', async () => {
    const taskId = await submitted(
      await on.send([
        runFile(
          '[ -t 1 ] && echo terminal; echo "args=$#"; env | cut -d = -f 1 | sort | tr "\\n" " "',
        ),
      ]),
    );
    expect((await on.daemon.finished(taskId)).state).toBe('done');
    const log = await on.daemon.logOf(taskId);
    expect(log).toContain('terminal');
    expect(log).toContain('args=0');
    expect(log).not.toMatch(/DEPOTD_ARG|NODE_|AWS|npm_/);
    nothingIsLeft();
  });

  test('that fails leaves nothing installed and no record', async () => {
    const failed = await on.install(
      runFile(`opkg -o ${on.device.root} --force-postinstall install demo-app; exit 3`),
    );
    expect(failed).toMatchObject({ state: 'failed', exit_code: 3 });
    expect([...(await on.device.database()).keys()]).toEqual(['libc']);
    expect(
      await on.install(ipk('badscript', { scripts: { postinst: '#!/bin/sh\nexit 1\n' } })),
    ).toMatchObject({ state: 'failed' });
    expect((await on.device.database()).has('badscript')).toBe(false);
    expect(await on.records()).toEqual([]);
    await expect.poll(on.left).toEqual([]);
    nothingIsLeft();
  });

  test('may call its field what it likes', async () => {
    const file = ipk('hello');
    expect((await on.install({ ...file, field: file.name })).state).toBe('done');
  });

  test('of an older version fails and says that it is not installed', async () => {
    expect((await on.install(ipk('hello', { version: '2.0-1' }))).state).toBe('done');
    expect(await on.install(ipk('hello', { version: '1.0-1' }))).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('hello 1.0-1 is not installed') as string,
    });
    expect((await on.device.database()).get('hello')?.version).toBe('2.0-1');
  });
});

describe('the file of an upload', () => {
  test('goes when its job is dropped before it began', async () => {
    const first = await submitted(await on.send([on.held]));
    const second = await submitted(await on.send([ipk('hello')]));
    expect((await on.left()).length).toBe(2);
    await on.daemon.post('admin/system/tasks/stop', { task_id: second });
    await expect.poll(async () => (await on.left()).length).toBe(1);
    await on.goOn(first);
    await expect.poll(on.left).toEqual([]);
    nothingIsLeft();
  });

  test('is not mixed up with one of the same name that is sent at once', async () => {
    const results = await Promise.all(
      ['one', 'two', 'three'].map((name) => on.install({ ...ipk(name), name: 'same.ipk' })),
    );
    expect(results.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    expect([...(await on.device.database()).keys()].sort()).toEqual([
      'libc',
      'one',
      'three',
      'two',
    ]);
  });

  test('waits for its job over a daemon that was killed; what nobody waits for is swept away', async () => {
    const first = await submitted(await on.send([on.held]));
    const second = await submitted(await on.send([ipk('hello')]));
    await on.daemon.kill('SIGKILL');
    await writeFile(join(on.folder, `${'a'.repeat(32)}.ipk`), 'left by a daemon that went down');
    await on.daemon.restart();
    expect((await on.left()).length).toBe(2);
    expect([(await on.goOn(first)).state, (await on.daemon.finished(second)).state]).toEqual([
      'done',
      'done',
    ]);
    await expect.poll(on.left).toEqual([]);
  });
});

const DAMAGED = {
  error_code: 'damaged_package',
  remedy: 'Download it again, or get it from another source.',
};
const notAllowed = (remedy: string): object => ({ error_code: 'not_allowed', remedy });
const WRONG_ENDING = notAllowed('Send a file whose name ends in .ipk or .run.');
const BROKEN_FORM = notAllowed(
  'Send the file again, whole, in a form of the type multipart/form-data.',
);
function expectedOf(name: string): object {
  // That form is broken before there is a file in it.
  if (name.includes('\0')) return BROKEN_FORM;
  return /\.(ipk|run)$/.test(name) ? DAMAGED : WRONG_ENDING;
}

describe('what an upload may not be', () => {
  const plain = (name: string, text: string): Parameters<typeof createTar>[0][number] => {
    return { name, mode: 0o644, content: Buffer.from(text) };
  };
  const control = pack([plain('./control', 'Package: evil\nVersion: 1\nArchitecture: all\n')]);
  const chunks = (over: Record<string, Buffer | undefined>): SentFile['content'] =>
    pack(
      Object.entries({
        './debian-binary': Buffer.from('2.0\n'),
        './control.tar.gz': control,
        './data.tar.gz': pack([]),
        ...over,
      }).flatMap(([name, content]) =>
        content instanceof Buffer ? [{ name, mode: 0o644, content }] : [],
      ),
    );

  test.each<[string, SentFile]>([
    ['a name with another ending', { name: 'a.txt', content: '#!/bin/sh\n' }],
    ['no ending', { name: 'ipk', content: 'x' }],
    ['an ending behind a NUL', { name: 'a.run\0.txt', content: '#!/bin/sh\n' }],
    ['a package of another system', { name: 'a.apk', content: 'ADB.' }],
    ['text called a package', { name: 'a.ipk', content: 'hello' }],
    ['nothing', { name: 'a.ipk', content: '' }],
    ['a program called a package', { name: 'a.ipk', content: '#!/bin/sh\n' }],
    ['a package called a program', { name: 'a.run', content: ipk('x').content }],
    ['text called a program', { name: 'a.run', content: 'echo hello' }],
    ['a script that Windows wrote', { name: 'a.run', content: '#!/bin/sh\r\necho hello\r\n' }],
    ['an empty program', { name: 'a.run', content: '' }],
    ['a gzip of no archive', { name: 'a.ipk', content: gzipSync('x'.repeat(1000)) }],
    ['an archive cut off', { name: 'a.ipk', content: ipk('x').content.slice(0, 200) }],
    [
      'a package without control',
      { name: 'a.ipk', content: chunks({ './control.tar.gz': undefined }) },
    ],
    ['a package without data', { name: 'a.ipk', content: chunks({ './data.tar.gz': undefined }) }],
    [
      'a package without version mark',
      { name: 'a.ipk', content: chunks({ './debian-binary': undefined }) },
    ],
    [
      'a package named as an option',
      {
        name: 'a.ipk',
        content: chunks({
          './control.tar.gz': pack([plain('./control', 'Package: -o/tmp\nVersion: 1\n')]),
        }),
      },
    ],
    [
      'data that unpacks upwards',
      {
        name: 'a.ipk',
        content: chunks({
          './data.tar.gz': pack([plain('./../../../tmp/evil', 'x')]),
        }),
      },
    ],
    [
      'data that unpacks through a link of its own',
      {
        name: 'a.ipk',
        content: chunks({
          './data.tar.gz': pack([
            { name: './in', mode: 0o777, target: '/tmp' },
            plain('./in/evil', 'x'),
          ]),
        }),
      },
    ],
    [
      'control that unpacks upwards',
      {
        name: 'a.ipk',
        content: chunks({
          './control.tar.gz': pack([plain('../evil', 'x')]),
        }),
      },
    ],
  ])('%s is refused with 400, and nothing is left', async (_, file) => {
    const answer = await on.send([file]);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: 400,
      stdout: '',
      stderr: expect.stringMatching(/^cannot /) as string,
      ...expectedOf(file.name),
    });
    expect(await on.left()).toEqual([]);
    expect(await exists(join(on.device.root, 'tmp/evil'))).toBe(false);
    nothingIsLeft();
  });

  test.each([
    '../../../../etc/evil.run',
    '..\\..\\evil.run',
    '/etc/evil.run',
    '....//evil.run',
    'a\nb.run',
    'é "\'`$(id);&|.run',
  ])('the name %j is shown at most, and no file has it', async (name) => {
    const status = await on.install({ ...runFile('true'), name });
    expect(status.state).toBe('done');
    expect(status.package).not.toMatch(/[/\\\n]/);
    expect(await exists(join(on.device.root, 'etc/evil.run'))).toBe(false);
    expect(
      (await readdir(join(on.device.root, 'tmp'))).filter((entry) => entry.includes('evil')),
    ).toEqual([]);
    nothingIsLeft();
  });

  test('two files are refused, and neither is left', async () => {
    expect((await on.send([ipk('one'), ipk('two')])).status).toBe(400);
    expect((await on.send([])).status).toBe(400);
    await expect.poll(on.left).toEqual([]);
    nothingIsLeft();
  });
});

describe('the folder of uploads', () => {
  test('that somebody else planted is not used: neither a link nor a file', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'depotd-elsewhere-'));
    await rm(on.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    await symlink(elsewhere, on.folder);
    expect((await on.send([runFile('true')])).status).toBe(503);
    await rm(on.folder);
    await writeFile(on.folder, '');
    expect((await on.send([runFile('true')])).status).toBe(503);
    expect(await readdir(elsewhere)).toEqual([]);
    await rm(elsewhere, { recursive: true, maxRetries: 20, retryDelay: 100 });
    await rm(on.folder);
    nothingIsLeft();
  });

  test('that others could look into is closed to them', async () => {
    await mkdir(on.folder, { recursive: true });
    await chmod(on.folder, 0o777);
    expect((await on.install(runFile('true'))).state).toBe('done');
    expect((await stat(on.folder)).mode & 0o777).toBe(0o700);
  });
});

async function submitted(answer: Response): Promise<string> {
  return ((await answer.json()) as { task_id: string }).task_id;
}

function pack(entries: Parameters<typeof createTar>[0]): Buffer {
  return gzipSync(createTar(entries));
}
