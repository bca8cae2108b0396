import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import type { StepContext } from '../../../../src/jobs/plan.ts';
import { slowPackage } from '../../../device/packages/awkward-packages.ts';
import { startCommand } from '../../../device/command.ts';
import { createDevice, type Device } from '../../../device/device.ts';
import { startLockHolder } from '../../../device/lock-holder.ts';
import { openHost, type OpkgHost } from '../open-host.ts';

let device: Device;
let host: OpkgHost;
let lockFile: string;

beforeAll(async () => {
  device = await createDevice({ packages: [slowPackage(1)] });
  host = await openHost(device);
  lockFile = join(device.root, 'var/lock/opkg.lock');
});

afterAll(() => device.close());

test('a clock that is set while opkg is shut out does not end the wait', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const said = 'Collected errors:\n * opkg_conf_load: Could not lock it: it is in use.\n';
  const job = { lastExitCode: 255 };
  const context = { job, memory: {}, printed: () => Promise.resolve(said) } as unknown;
  const wasShutOut = (): Promise<boolean> => host.manager.around.wasShutOut(context as StepContext);

  vi.setSystemTime(new Date('1970-01-01'));
  expect(await wasShutOut()).toBe(true);
  vi.setSystemTime(new Date('2026-01-01'));
  expect(await wasShutOut()).toBe(true);
});

test('without a lock file nobody holds the lock', async () => {
  await rm(lockFile, { force: true });

  expect(await host.installation.lockHolder()).toBeUndefined();
});

test('a lock file that nobody locks is no lock', async () => {
  await writeFile(lockFile, 'left behind');

  expect(await host.installation.lockHolder()).toBeUndefined();
});

test('whoever holds the lock is named by its process id, and only for so long', async () => {
  const holder = await startLockHolder(device);

  expect(await host.installation.lockHolder()).toBe(holder.pid);

  await holder.release();
  expect(await host.installation.lockHolder()).toBeUndefined();
});

test('an opkg that installs is seen to hold the lock', async () => {
  await device.opkg('update');
  const install = device.startOpkg('install', 'slow');
  await install.printed('slow: postinst begin');

  expect(await host.installation.lockHolder()).toBe(install.pid);

  await install.outcome;
  expect(await host.installation.lockHolder()).toBeUndefined();
});

test('a lock of another kind, which opkg does not heed, is not heeded either', async () => {
  await writeFile(lockFile, '');
  const other = startCommand(['perl', '-e', FLOCK, lockFile]);
  await other.printed('locked');

  expect(await host.installation.lockHolder()).toBeUndefined();

  other.signal('SIGTERM');
  await other.outcome;
});

/** flock(2), which does not exclude the lock that opkg takes by fcntl(2). */
const FLOCK =
  'use Fcntl ":flock"; open my $file, ">>", shift; flock $file, LOCK_EX or exit 1; $| = 1; print "locked\\n"; sleep;';
