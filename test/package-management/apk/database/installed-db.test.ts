import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  parseInstalled,
  readFields,
  readInstalled,
  type RecordedFile,
} from '../../../../src/package-management/apk/database/installed-db.ts';

/** As apk 3.0.5 writes it. */
const DEMO = `C:Q1mzCYGRg9gr+1YE/EzpSo761L+7s=
P:demo-app
V:1.0-r1
A:noarch
S:1276
I:306
T:demo-app test package
o:feeds/lab/demo-app
D:libc libdemo=1.0-r1 !enemy
p:virt=1.0 so
f:fsS
F:
R:top
Z:Q1a9r8LrpRPbAzqAxsCM3tMtRXWkg=
F:etc
F:etc/config
M:0:0:700
R:demo-app
a:0:0:755
Z:Q1a9r8LrpRPbAzqAxsCM3tMtRXWkg=

`;
const LIBC = 'P:libc\nV:1.2.5-r4\n\n';

async function* inPieces(text: string, sizeBytes = text.length): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += sizeBytes) yield bytes.subarray(at, at + sizeBytes);
}

test.each([1, 7, 64, 4096])('a record in pieces of %i bytes says what it is of', async (size) => {
  const records = await parseInstalled(inPieces(LIBC + DEMO, size), { name: 'installed' });

  expect([...records.keys()]).toEqual(['libc', 'demo-app']);
  expect(records.get('demo-app')).toEqual({
    name: 'demo-app',
    version: '1.0-r1',
    architecture: 'noarch',
    origin: 'feeds/lab/demo-app',
    depends: ['libc', 'libdemo'],
    provides: ['virt', 'so'],
    replaces: [],
    installIf: [],
    installedBytes: 306,
    hasBrokenFiles: true,
    hasBrokenScript: true,
    hasSha256: true,
  });
});

test('the files of a package are read if they are wanted, and no others', async () => {
  const found: [string, RecordedFile][] = [];
  await parseInstalled(inPieces(DEMO + DEMO.replace('P:demo-app', 'P:other'), 11), {
    name: 'installed',
    filesOf: (name) => name === 'demo-app',
    onFile: (file, owner) => void found.push([owner, file]),
  });

  const hash = 'Q1a9r8LrpRPbAzqAxsCM3tMtRXWkg=';
  expect(found).toEqual([
    ['demo-app', { path: 'top', hash }],
    ['demo-app', { path: 'etc/config/demo-app', hash, mode: 0o755, uid: 0 }],
  ]);
});

test('fields that nobody knows yet are passed over', async () => {
  const records = await parseInstalled(inPieces('P:new\nV:1\nX:9\ny:z\n\n'), { name: 'installed' });

  expect(records.get('new')?.version).toBe('1');
});

test.each([
  ['half a package', DEMO.slice(0, 60), /line 3: it ends in the middle/],
  ['half a line', `${LIBC}P:x\nV:1\nF:et`, /ends in the middle of a line/],
  ['a package without an end', 'P:x\nV:1\nF:etc\n', /ends in the middle of a package/],
  ['a package without a version', 'P:x\n\n', /line 2: a package without name or version/],
  ['a line that is no field', 'P:x\nV:1\ngarbage\n\n', /line 3: it is no field/],
  ['zeros, as after a power cut', '\0'.repeat(64), /ends in the middle of a line/],
  ['the same package twice', LIBC + LIBC, /libc stands there twice/],
])('%s is refused, with the line', async (_, text, message) => {
  await expect(parseInstalled(inPieces(text, 5), { name: 'installed' })).rejects.toThrow(message);
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-installed-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('a record that is gone is refused by its name', async () => {
  await expect(readInstalled(join(folder, 'installed'))).rejects.toThrow(
    /cannot read .*installed: it is gone/,
  );
});

test('all that is known of one package can be had', async () => {
  const file = join(folder, 'one');
  await writeFile(file, LIBC + DEMO);

  const { fields, files } = await readFields(file, 'demo-app');

  expect([fields.get('T'), fields.get('S'), files]).toEqual([
    'demo-app test package',
    '1276',
    [
      { path: 'top', hash: 'Q1a9r8LrpRPbAzqAxsCM3tMtRXWkg=' },
      {
        ...{ path: 'etc/config/demo-app', hash: 'Q1a9r8LrpRPbAzqAxsCM3tMtRXWkg=' },
        ...{ mode: 0o755, uid: 0 },
      },
    ],
  ]);
  await expect(readFields(file, 'absent')).rejects.toThrow('absent is not on record');
});
