import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { startDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { REPOSITORY } from '../../source-tree.ts';
import { breaksIn, interfaceLines, type InterfaceDocument } from './interface-lines.ts';

/** The interface of a released version. It is written anew with each: `npm run interface`. */
const KEPT = join(import.meta.dirname, 'interface.txt');

test('what programs rely on stays, unless the version says that it does not', async () => {
  const [of = '', ...kept] = (await readFile(KEPT, 'utf8').catch(() => '')).trimEnd().split('\n');
  const { version } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as {
    version: string;
  };
  const lines = interfaceLines(await currentInterface());
  if (process.env.KEEP_INTERFACE === '1') {
    await expect([version, ...lines, ''].join('\n')).toMatchFileSnapshot(KEPT);
    return;
  }
  const breaks = breaksIn(kept, lines);
  expect(kept.length).toBeGreaterThan(100);
  expect(mayBreak(of, version) ? [] : breaks).toEqual([]);
});

test('what breaks a program is told from what does not', () => {
  const before = [
    'GET a',
    'GET a ?old',
    'GET a ?k=x',
    'GET a 200.x!: string',
    'GET a 200.y: string',
    'GET a 200.c: any',
  ];
  expect(
    breaksIn(before, [...before, 'GET b', 'GET b ?needed!', 'GET a ?more', 'GET a 200.z!: any']),
  ).toEqual([]);
  expect(
    breaksIn(before, [
      'GET a',
      'GET a ?old',
      'GET a ?k=x',
      'GET a 200.x!: string',
      'GET a 200.y!: string',
      'GET a 200.c: boolean',
    ]),
  ).toEqual([]);
  expect(
    breaksIn(before, ['GET a', 'GET a ?old!', 'GET a 200.x: string', 'GET a 200.y: integer']),
  ).toEqual([
    'gone: GET a ?old',
    'gone: GET a ?k=x',
    'gone: GET a 200.x!: string',
    'gone: GET a 200.y: string',
    'gone: GET a 200.c: any',
    'now needed: GET a ?old!',
  ]);
});

test.each([
  ['0.2.0', '0.2.1', false],
  ['0.2.0', '0.3.0', true],
  ['1.2.0', '1.3.0', false],
  ['1.2.0', '2.0.0', true],
])('from %s to %s the interface may break: %s', (before, after, may) => {
  expect(mayBreak(before, after)).toBe(may);
});

/** Semantic versioning: below 1.0 the second number says it, else the first. */
function mayBreak(before: string, after: string): boolean {
  const [major = 0, minor = 0] = before.split('.').map(Number);
  const [newMajor = 0, newMinor = 0] = after.split('.').map(Number);
  return newMajor > major || (major === 0 && newMajor === 0 && newMinor > minor);
}

async function currentInterface(): Promise<InterfaceDocument> {
  const device = await createDevice();
  const daemon = await startDaemon(device);
  const document = (await (await daemon.get('openapi.json')).json()) as InterfaceDocument;
  await daemon.close();
  await device.close();
  return document;
}
