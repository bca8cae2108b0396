import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { createNotes } from '../../../../src/device/notes.ts';
import {
  createAutoInstalled,
  type AutoInstalled,
} from '../../../../src/package-management/opkg/database/auto-installed.ts';
import { parseStatus } from '../../../../src/package-management/opkg/database/status-file.ts';
import type { PackageDatabase } from '../../../../src/package-management/database.ts';

const CAME_AS_DEPENDENCY = databaseWith({ time: 100, isAuto: true });
const UPGRADED = databaseWith({ time: 200 });
const UPGRADED_AGAIN = databaseWith({ time: 300 });

test('a dependency that opkg upgraded by name, and again, still counts as one', async () => {
  const auto = await openMarks();

  await auto.update(CAME_AS_DEPENDENCY, UPGRADED);
  expect(await isAuto(auto, UPGRADED)).toBe(true);

  await auto.update(UPGRADED, UPGRADED_AGAIN);
  expect(await isAuto(auto, UPGRADED_AGAIN)).toBe(true);
});

test('a mark stays when the same change is taken over twice, as after a crash', async () => {
  const auto = await openMarks();
  await auto.update(CAME_AS_DEPENDENCY, UPGRADED);
  await auto.update(UPGRADED, UPGRADED_AGAIN);

  await auto.update(UPGRADED, UPGRADED_AGAIN);

  expect(await isAuto(auto, UPGRADED_AGAIN)).toBe(true);
});

test('what the owner installed by hand afterwards is the owner’s', async () => {
  const auto = await openMarks();
  await auto.update(CAME_AS_DEPENDENCY, UPGRADED);

  expect(await isAuto(auto, databaseWith({ time: 201 }))).toBe(false);
});

async function openMarks(): Promise<AutoInstalled> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-marks-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return createAutoInstalled(createNotes(folder));
}

async function isAuto(auto: AutoInstalled, database: PackageDatabase): Promise<boolean> {
  return (await auto.restoreMarks(database)).get('libdemo')?.isAuto === true;
}

function databaseWith({ time, isAuto: isMarked = false }: { time: number; isAuto?: boolean }) {
  return parseStatus(
    `Package: libdemo\nVersion: ${time}\nStatus: install user installed\n` +
      `Installed-Time: ${time}\n${isMarked ? 'Auto-Installed: yes\n' : ''}\n`,
  );
}
