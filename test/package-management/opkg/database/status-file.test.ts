import { access, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import {
  createDatabaseReader,
  type DatabaseReader,
} from '../../../../src/package-management/opkg/database/status-file.ts';
import { lockHolderOf } from '../../../../src/device/lock-holder.ts';
import { startCommand, type RunningCommand } from '../../../device/command.ts';

let folder: string;
let status: string;
let lock: string;
let reader: DatabaseReader;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-database-'));
  status = join(folder, 'status');
  lock = join(folder, 'lock');
  reader = createDatabaseReader({
    statusFiles: async () => [status],
    isLocked: async () => (await lockHolderOf(lock, 'POSIX')) !== undefined,
    hasControl: (_, name) =>
      access(join(folder, `${name}.control`)).then(
        () => true,
        () => false,
      ),
  });
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('every field that matters is read', async () => {
  await writeFile(
    status,
    'Package: demo\nVersion: 1:1.0~rc1-1\nDepends: libc, liba (>= 1.0), b | c (= 2)\nProvides: virtual, other (= 1)\nStatus: install user,hold unpacked\nEssential: yes\nArchitecture: x86_64\nConffiles:\n /etc/config/demo 0123\nAuto-Installed: yes\nInstalled-Time: 1700000000\n\n' +
      'Package: bare\nStatus: deinstall ok not-installed\n\n',
  );

  const database = await reader.read();

  expect(database.get('demo')).toEqual({
    name: 'demo',
    version: '1:1.0~rc1-1',
    architecture: 'x86_64',
    state: 'unpacked',
    isAuto: true,
    isEssential: true,
    isHeld: true,
    depends: [['libc'], ['liba'], ['b', 'c']],
    provides: ['virtual', 'other'],
    installedAt: 1_700_000_000,
  });
  expect(database.get('bare')).toMatchObject({
    version: '',
    state: 'not-installed',
    isAuto: false,
    isEssential: false,
    depends: [],
    provides: [],
    installedAt: 0,
  });
});

test('a device without a status file has no packages', async () => {
  expect((await reader.read()).size).toBe(0);
});

test('a file that changed is read again, one that did not is not', async () => {
  await writeFile(status, stanzas(2));
  const first = await reader.read();

  expect(await reader.read()).toBe(first);
  await writeFile(status, stanzas(3));
  expect((await reader.read()).size).toBe(3);
});

test('a file put in place by rename counts as changed, though its size and time are the same', async () => {
  await writeFile(status, stanzas(2, 'a'));
  await utimes(status, 1_700_000_000, 1_700_000_000);
  await reader.read();
  await writeFile(`${status}.new`, stanzas(2, 'b'));
  await utimes(`${status}.new`, 1_700_000_000, 1_700_000_000);

  await rename(`${status}.new`, status);

  expect([...(await reader.read()).keys()]).toEqual(['b-1', 'b-2']);
});

test('a file that is gone is not believed: somebody may be putting another in its place', async () => {
  await writeFile(status, stanzas(3));
  const good = [...(await reader.read())];

  await rm(status);
  expect([...(await reader.read())]).toEqual(good);

  await writeFile(status, stanzas(4));
  expect((await reader.read()).size).toBe(4);
});

/** What an interrupted write leaves; each is the beginning of a file of three packages. */
const CUTS: [string, (text: string) => string][] = [
  ['nothing', () => ''],
  ['half of a line', (text) => text.slice(0, -70)],
  ['a package without its Status', (text) => text.slice(0, text.lastIndexOf('Status:'))],
  ['all but the last empty line', (text) => text.slice(0, -1)],
  ['half of a last field', (text) => text.slice(0, -7)],
  ['a package name alone', (text) => `${text}Package: cut\n\n`],
];

test.each(CUTS)(
  'a file that holds %s is not believed: the last good reading goes on',
  async (_, cut) => {
    await writeFile(status, stanzas(3));
    const good = [...(await reader.read())];

    await writeFile(status, cut(stanzas(3)));
    expect([...(await reader.read())]).toEqual(good);

    await writeFile(status, stanzas(4));
    expect((await reader.read()).size).toBe(4);
  },
);

test('while somebody holds the lock, a file that ends well but has lost packages is believed only when it has been at rest', async () => {
  await writeFile(status, stanzas(3));
  await reader.read();
  const writer = startWriter({ rounds: 0 });
  await writer.printed('locked');

  await writeFile(status, stanzas(2));
  const writtenAt = performance.now();
  expect((await reader.read()).size).toBe(2);
  expect(performance.now() - writtenAt).toBeGreaterThan(900);

  writer.signal('SIGTERM');
  await writer.exit;
  // A clock that stands still: the file never comes to rest, so that only the lock can tell.
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  await writeFile(status, stanzas(1));
  await utimes(status, new Date(), new Date());
  expect((await reader.read()).size).toBe(1);
});

test('without the lock, too, a package whose control file is there is believed gone only when the file has been at rest', async () => {
  await writeFile(status, stanzas(3));
  await writeFile(join(folder, 'p-3.control'), 'Package: p-3\n');
  await reader.read();

  await writeFile(status, stanzas(2));
  const writtenAt = performance.now();
  expect((await reader.read()).size).toBe(2);
  expect(performance.now() - writtenAt).toBeGreaterThan(900);
});

/** A reader tries so often, then gives up. */
const TRIES = 60;

test('a file that is whole by the time the reader gives up is read by the next who asks', async () => {
  // So that no file is at rest, however slow this machine is.
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const write = async (count: number): Promise<void> => {
    await writeFile(status, stanzas(count));
    await utimes(status, new Date(), new Date());
  };
  let isWriting = false;
  let tries = 0;
  const beside = createDatabaseReader({
    statusFiles: async () => [status],
    isLocked: async () => {
      if (!isWriting) return false;
      tries += 1;
      await write(tries < TRIES ? 2 : 4);
      return true;
    },
    hasControl: () => Promise.resolve(false),
  });
  await write(3);
  await beside.read();
  isWriting = true;
  await write(2);

  expect((await beside.read()).size).toBe(3);
  expect(tries).toBe(TRIES);
  expect((await beside.read()).size).toBe(4);
});

test(
  'while somebody rewrites the file in place over and over, no reading is ever short',
  { timeout: 60_000 },
  async () => {
    await writeFile(status, stanzas(COUNT, 'p'));
    await reader.read();
    const writer = startWriter({ rounds: ROUNDS });
    await writer.printed('locked');
    const state = { isWriting: true };
    void writer.exit.then(() => (state.isWriting = false));

    const sizes = new Set<number>();
    const raw = new Set<boolean>();
    while (state.isWriting) {
      raw.add((await readFile(status, 'latin1')).split('Package:').length - 1 === COUNT);
      sizes.add((await reader.read()).size);
    }

    expect([...sizes]).toEqual([COUNT]);
    // The file itself was seen short, or the test would say nothing.
    expect(raw).toContain(false);
    expect((await reader.read()).get('p-1')?.version).toBe(String(ROUNDS));
  },
);

const COUNT = 200;
const ROUNDS = 100;

function stanzas(count: number, prefix = 'p', version = '1'): string {
  return Array.from(
    { length: count },
    (_, index) =>
      `Package: ${prefix}-${index + 1}\nVersion: ${version}\nStatus: install user installed\nInstalled-Time: 1700000000\n\n`,
  ).join('');
}

/**
 * Rewrites the status file as opkg does: under its lock, truncated in place, written in pieces.
 * With no rounds it only holds the lock.
 */
const WRITER = `
use opkg::lock;
use IO::Handle;
$| = 1;
my ($status, $lock_file, $rounds, $count) = @ARGV;
for my $round (1 .. $rounds || 1) {
    my $lock = take_lock($lock_file) or die;
    print "locked\\n" if $round == 1;
    sleep if !$rounds;
    open my $file, '>', $status or die;
    for my $at (1 .. $count) {
        print $file "Package: p-$at\\nVersion: $round\\nStatus: install user installed\\n\\n";
        if ($at % 20 == 0) { $file->flush; select undef, undef, undef, 0.002 }
    }
    close $file;
    release_lock($lock);
    select undef, undef, undef, 0.01;
}
`;

function startWriter({ rounds }: { rounds: number }): RunningCommand {
  const library = join(import.meta.dirname, '../../../device');
  return startCommand([
    'perl',
    `-I${library}`,
    '-e',
    WRITER,
    status,
    lock,
    String(rounds),
    String(COUNT),
  ]);
}

test('a version that failed to come does not hide the one that is installed', async () => {
  const wanted = 'Package: demo\nVersion: 2.0-1\nStatus: install ok not-installed\n\n';
  const there = 'Package: demo\nVersion: 1.0-1\nStatus: install user installed\n\n';
  for (const text of [wanted + there, there + wanted]) {
    await writeFile(status, text);
    expect((await reader.read()).get('demo')).toMatchObject({
      version: '1.0-1',
      state: 'installed',
    });
  }
});
