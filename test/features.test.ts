import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { MAIN_SECTION } from '../src/config/options.ts';
import { SECTIONS } from '../src/features.ts';
import { startDaemon, type TestDaemon } from './device/daemon.ts';
import { createDevice, type Device } from './device/device.ts';
import { buildDaemon } from './support/build-daemon.ts';

/** The lines that a new feature adds to the list, and no other file is touched. */
const ADDED: [before: string, line: string][] = [
  [
    'import { createAppStatusFeature }',
    `import { createToyFeature, TOY_SECTION } from '${toyFile()}';`,
  ],
  ['CONTAINER_SECTION,', 'TOY_SECTION,'],
  ['createPageFeature(),', 'createToyFeature(context),'],
];

let device: Device;
let daemon: TestDaemon;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-toy-'));
  const program = join(folder, 'depotd.mjs');
  await buildDaemon(program, (source) => ADDED.reduce(insertBefore, source));
  device = await createDevice();
  daemon = await startDaemon(device, { program, set: ['toy.greeting=good morning'] });
});
afterAll(async () => {
  await daemon.close();
  await device.close();
  await rm(folder, { recursive: true });
});

test('a feature that is added to the list answers its routes, with its own options', async () => {
  expect(await (await daemon.get('admin/toy/greeting')).json()).toEqual({
    greeting: 'good morning',
  });
  expect(await (await daemon.get('openapi.json')).json()).toMatchObject({
    paths: { '/cgi-bin/panel/admin/toy/greeting': { get: { summary: 'What the toy says' } } },
  });
});

test('its kind of job runs, in a lane of its own, and its log is there', async () => {
  const id = await daemon.submit('play');

  expect(await daemon.finished(id)).toMatchObject({
    state: 'done',
    kind: 'play',
    command: 'play with bear',
    progress: { done: 1, total: 1 },
  });
  expect(await daemon.logOf(id)).toContain('good morning');
});

test('its health and its figures stand beside those of the others', async () => {
  expect(await (await daemon.get('/healthz')).json()).toMatchObject({
    status: 'ok',
    forge: { configured: false },
    toy: { starts: 1 },
  });
  const figures = await (await daemon.get('/metrics')).text();
  expect(figures).toContain('# HELP toy_starts Starts.\n# TYPE toy_starts gauge\ntoy_starts 1\n');
  expect(figures).toContain('depotd_jobs{state="done"}');
});

test('it is told when the daemon stops, and a daemon without it shows its jobs all the same', async () => {
  const id = await daemon.submit('play');
  await daemon.finished(id);
  await daemon.close();
  expect(await daemon.logged('toy closed')).toBeDefined();

  const without = await startDaemon(device);

  expect(await without.status(id)).toMatchObject({ state: 'done', command: 'play with bear' });
  await without.close();
});

test('no two sections of the configuration have one name', () => {
  const names = [MAIN_SECTION, ...SECTIONS].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

function insertBefore(source: string, [before, line]: [string, string]): string {
  expect(source.split(before)).toHaveLength(2);
  return source.replace(before, `${line}\n${before}`);
}

function toyFile(): string {
  return join(import.meta.dirname, 'support/toy-feature.ts');
}
