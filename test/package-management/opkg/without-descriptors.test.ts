import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { bundledProgram } from '../../support/bundled-program.ts';

type Read = Record<'settings' | 'status' | 'offers' | 'fault', unknown>;
let read: Record<'before' | 'meanwhile' | 'after', Read>;

beforeAll(async () => {
  const root = await mkdtemp(join(tmpdir(), 'depotd-descriptors-'));
  const source = join(import.meta.dirname, 'without-descriptors.ts');
  const { stdout } = await runCommand(['node', await bundledProgram(source), root]);
  read = JSON.parse(stdout) as typeof read;
  await rm(root, { recursive: true });
});

test('settings of opkg that cannot be read for lack of descriptors are read when there are some', () => {
  expect(read.meanwhile.settings).toContain('EMFILE');
  expect(read.after.settings).toBe(true);
});

test('a file that cannot be read for lack of descriptors is read when there are some', () => {
  expect(read.before.status).toEqual(['one']);
  expect(read.meanwhile.status).toContain('EMFILE');
  expect(read.after.status).toEqual(['one', 'two']);
});

test('a list that cannot be read for lack of descriptors is neither empty nor damaged', () => {
  expect(read.meanwhile.offers).toContain('EMFILE');
  expect(read.meanwhile.fault).toContain('EMFILE');
  expect(read.after).toMatchObject({ offers: ['one'], fault: 'none' });
});
