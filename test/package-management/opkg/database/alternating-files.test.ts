import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createAlternatingFiles } from '../../../../src/package-management/opkg/database/alternating-files.ts';
import { createRandom } from '../../../support/random.ts';

const run = promisify(execFile);
const SCRIPT = new URL('../../../../src/package-management/opkg/self-upgrade.sh', import.meta.url)
  .pathname;

let [first, second] = ['', ''];
let files: ReturnType<typeof createAlternatingFiles>;
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-alternating-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  [first, second] = [join(folder, 'first.gz'), join(folder, 'second.gz')];
  files = createAlternatingFiles([first, second], 1024 ** 2);
});

/** Some that gzip does not make much shorter. */
function textOf(seed: number, length = 3000): string {
  const random = createRandom(seed);
  return Array.from({ length }, () => String.fromCharCode(32 + random.below(90))).join('');
}

test('nothing is read from files that are not there, are damaged, or unpack to too much', async () => {
  expect(await files.read()).toBeUndefined();
  await writeFile(first, 'no gzip');
  await writeFile(second, gzipSync(Buffer.alloc(2 * 1024 ** 2)));

  expect(await files.read()).toBeUndefined();

  await files.write('a text');
  expect(await files.read()).toBe('a text');
});

test('from the third text on both files stay, with their lengths', async () => {
  await files.write(textOf(1));
  await files.write(textOf(2, 2900));
  const before = await Promise.all([first, second].map((file) => stat(file)));

  for (let seed = 3; seed < 9; seed += 1) {
    await files.write(textOf(seed, 2800 + 20 * seed));
    expect(await files.read()).toBe(textOf(seed, 2800 + 20 * seed));
  }

  const after = await Promise.all([first, second].map((file) => stat(file)));
  const kept = before.map(({ ino, size }) => ({ ino, size }));
  expect(after).toMatchObject(kept);
});

test('a power cut at any byte of a write leaves the text before or the new one', async () => {
  for (const seed of [1, 2]) await files.write(textOf(seed));
  const [before] = await Promise.all([readFile(first), readFile(second)]);
  await files.write(textOf(3));
  const written = await readFile(first);
  expect(written.equals(before)).toBe(false);

  const seen = new Set<string | undefined>();
  for (let cut = 0; cut <= written.length; cut += cut < 40 ? 1 : 33) {
    await writeFile(first, Buffer.concat([written.subarray(0, cut), before.subarray(cut)]));
    seen.add(await files.read());
  }

  await writeFile(first, written);
  expect(await files.read()).toBe(textOf(3));
  expect([...seen].every((text) => text === textOf(2) || text === textOf(3))).toBe(true);
});

test('a power cut that leaves a new head before an old rest leaves the text before', async () => {
  for (const text of ['one', 'two']) await files.write(text);
  // Of the same length, also when they are packed.
  for (const [text, file] of [
    ['six', first],
    ['ten', second],
    ['one', first],
  ] as const) {
    const [before, old] = [await files.read(), await readFile(file)];
    await files.write(text);
    const written = await readFile(file);

    await writeFile(file, Buffer.concat([written.subarray(0, 512), old.subarray(512)]));
    expect(await files.read()).toBe(before);

    await writeFile(file, written);
    expect(await files.read()).toBe(text);
  }

  // What is left of one that was torn is not written over: a third text may begin anywhere.
  await writeFile(first, (await readFile(first)).fill(0, 512));
  const { ino } = await stat(first);
  await files.write('six');
  expect((await stat(first)).ino).not.toBe(ino);
});

test('a text that does not fit gets a larger file, and the other one stays meanwhile', async () => {
  await files.write('one');
  await files.write('two');
  await files.write(textOf(1, 200_000));

  expect(await files.read()).toBe(textOf(1, 200_000));
  expect((await stat(first)).size).toBeGreaterThan(100_000);
  expect((await stat(second)).size).toBe(4096);
  await files.write('four');
  await files.write('five');
  expect(await files.read()).toBe('five');
});

test.each([0, 1])(
  'what an older depotd wrote to file %i counts, until there is a newer text',
  async (at) => {
    for (const text of ['one', 'two', 'three']) await files.write(text);
    await writeFile([first, second][at] ?? '', gzipSync('of the older one'));
    expect(await files.read()).toBe('of the older one');

    await files.write('newer');

    expect(await files.read()).toBe('newer');
  },
);

test('a link in the place of the older file is replaced, and leads nowhere', async () => {
  for (const text of ['one', 'two']) await files.write(text);
  const elsewhere = `${first}.elsewhere`;
  await writeFile(elsewhere, await readFile(first));
  await rm(first);
  await symlink(elsewhere, first);

  await files.write('three');

  expect(await files.read()).toBe('three');
  expect(gunzipped(await run('gzip', ['-dc', elsewhere]))).toBe('one');
});

test.each([
  ['sh', 'gzip'],
  ['busybox sh', 'busybox gzip'],
])('the watcher of a self-upgrade finds the same text by %s', async (shell, gzip) => {
  const watched = async (): Promise<string> => {
    const program = `gzip() { ${gzip === 'gzip' ? 'command gzip' : gzip} "$@"; }
      . ${SCRIPT}; first_copy=$0 second_copy=$1 plain_copy=/nowhere; database_before`;
    const words = [...shell.split(' '), '-c', program, first, second];
    return (await run('env', words)).stdout;
  };
  for (let seed = 1; seed < 12; seed += 1) {
    await files.write(textOf(seed));
    expect(await watched()).toBe(textOf(seed));
  }

  // gzip of busybox passes over no field of more than 16 kB.
  for (const kilobytes of [20, 20, 16, 4, 2]) {
    await files.write(textOf(kilobytes, 1000 * kilobytes));
    expect(await watched()).toBe(textOf(kilobytes, 1000 * kilobytes));
  }
  for (const seed of [9, 10, 11]) await files.write(textOf(seed));

  // The eleventh text is in the first file.
  await writeFile(first, (await readFile(first)).subarray(0, 2000));
  expect(await watched()).toBe(textOf(10));
  await writeFile(first, gzipSync('of an older depotd'));
  expect(await watched()).toBe('of an older depotd');
});

function gunzipped({ stdout }: { stdout: string }): string {
  return stdout;
}
