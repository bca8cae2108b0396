import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { parseStatus } from '../../../src/package-management/opkg/database/status-file.ts';
import { writtenAfter } from '../../../src/package-management/opkg/database/info-folder.ts';
import {
  findEmptied,
  findOtherVersions,
} from '../../../src/package-management/opkg/recovery/repair-steps.ts';
import {
  lowerVersions,
  restoreVersions,
} from '../../../src/package-management/opkg/recovery/damaged.ts';

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const NOW = Math.floor(Date.now() / 1000);

/** A package `a` with these files, of which some are conffiles with the content that came. */
async function install(
  files: Readonly<Record<string, string | Buffer | undefined>>,
  { conffiles = {}, control = 'Package: a\nVersion: 1\nInstalled-Size: 30000\n', list = '' } = {},
): Promise<{ infoDir: string; destination: string; statusFile: string }> {
  const destination = await mkdtemp(join(tmpdir(), 'emptied-'));
  onTestFinished(() => rm(destination, { recursive: true, force: true }));
  const infoDir = join(destination, 'usr/lib/opkg/info');
  const statusFile = join(destination, 'usr/lib/opkg/status');
  await mkdir(infoDir, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(destination, path)), { recursive: true });
    if (content !== undefined) await writeFile(join(destination, path), content);
  }
  const paths = Object.keys(files).map((path) => `${path}\n`);
  await writeFile(join(infoDir, 'a.list'), list || paths.join(''));
  await writeFile(join(infoDir, 'a.control'), control);
  const hashes = Object.entries<string>(conffiles).map(([path, text]) => ` ${path} ${md5(text)}\n`);
  await writeFile(statusFile, `Package: a\nVersion: 1\nConffiles:\n${hashes.join('')}\n`);
  return { infoDir, destination, statusFile };
}

test.each<[string, Parameters<typeof install>, string[]]>([
  ['whole files', [{ '/bin/a': 'text', '/etc/a': '\0\0x' }], []],
  ['names beyond ASCII', [{ '/etc/Főtanúsítvány.crt': 'text' }], []],
  ['a file without length', [{ '/bin/a': '', '/etc/a': 'b' }], ['a']],
  ['a file of zeros', [{ '/bin/a': Buffer.alloc(9000) }], ['a']],
  ['a file that is not there', [{ '/bin/a': undefined, '/etc/a': 'b' }], ['a']],
  ['an emptied conffile', [{ '/etc/a': '' }, { conffiles: { '/etc/a': 'came' } }], ['a']],
  ['a conffile that is meant to be empty', [{ '/etc/a': '' }, { conffiles: { '/etc/a': '' } }], []],
  ['a conffile that went', [{ '/etc/a': undefined }, { conffiles: { '/etc/a': 'x' } }], []],
  ['a control file of zeros', [{ '/bin/a': 'b' }, { control: '\0\0\0' }], ['a']],
  ['a list of files of zeros', [{}, { list: '\0\0\0' }], ['a']],
  ['no list of files', [{}], ['a']],
  ['a package without files', [{}, { control: 'Package: a\nInstalled-Size: 10240\n' }], []],
])('after a power cut %s', async (_, [files, options], expected) => {
  const on = await install(files, options);

  expect(await writtenAfter(on.infoDir, NOW)).toEqual(['a']);
  expect(await findEmptied(on, ['a'], NOW)).toEqual(expected);
});

test('an empty file that was there before the task began is meant to be empty', async () => {
  const on = await install({ '/bin/empty': '' });
  await utimes(join(on.destination, 'bin/empty'), 1, 1);

  expect(await findEmptied(on, ['a'], NOW + 3600)).toEqual([]);
  expect(await writtenAfter(on.infoDir, NOW + 3600)).toEqual([]);
});

test.each([
  ['1', []],
  ['2', ['a']],
])('files of version %s, when the record of 1 was put back', async (version, expected) => {
  const on = await install({ '/bin/a': 'b' }, { control: `Package: a\nVersion: ${version}\n` });
  const status = await readFile(on.statusFile, 'utf8');
  const database = parseStatus(status.replace('\n', '\nStatus: install ok installed\n'));

  expect(await findOtherVersions(on, ['a'], database)).toEqual(expected);
});

test('while a damaged package is installed again its record has the lowest version, and else its own', async () => {
  const on = await install({ '/bin/a': '' });
  const before = await readFile(on.statusFile, 'utf8');
  const context = { memory: {} };

  await lowerVersions(on.statusFile, context, ['a']);
  expect(await readFile(on.statusFile, 'utf8')).toBe(before.replace('Version: 1', 'Version: 0'));
  // A daemon that was cut off does it once more.
  await lowerVersions(on.statusFile, context, ['a']);
  await restoreVersions(on.statusFile, context);
  expect(await readFile(on.statusFile, 'utf8')).toBe(before);

  await lowerVersions(on.statusFile, context, ['a']);
  await writeFile(on.statusFile, before.replace('Version: 1', 'Version: 2'));
  await restoreVersions(on.statusFile, context);
  expect(await readFile(on.statusFile, 'utf8')).toContain('Version: 2');
});
