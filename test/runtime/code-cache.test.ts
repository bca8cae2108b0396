import {
  chmod,
  cp,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { DAEMON_PROGRAM } from '../device/daemon-process.ts';
import { startDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';

let device: Device;
let folder: string;
let program: string;
let cache: string;

beforeEach(async () => {
  device = await createDevice();
  folder = await mkdtemp(join(tmpdir(), 'depotd-program-'));
  program = join(folder, 'start.cjs');
  cache = join(folder, 'depotd.cache');
  for (const name of ['start.cjs', 'depotd.cjs']) {
    await cp(join(dirname(DAEMON_PROGRAM), name), join(folder, name));
  }
});
afterEach(async () => {
  await device.close();
  await rm(folder, { recursive: true });
});

test('the first start keeps the code that V8 made, for its user alone; the next one writes nothing', async () => {
  await startUntilKept();
  const first = await stat(cache);
  expect(first.mode & 0o777).toBe(0o600);
  expect(first.size).toBeGreaterThan(100_000);

  await startAndRest();

  expect((await stat(cache)).mtimeMs).toBe(first.mtimeMs);
  expect(await readdir(folder)).toEqual(['depotd.cache', 'depotd.cjs', 'start.cjs']);
});

test('the kept code has what an answer takes, though nobody asked before it was kept', async () => {
  await startUntilKept();
  // A name of what `healthz` answers: V8 keeps no names of functions that it did not compile.
  expect(await readFile(cache, 'latin1')).toContain('rss_bytes');
});

test('code that is damaged, or of another program, is not run, and made anew', async () => {
  await startUntilKept();
  const whole = await readFile(cache);
  for (const spoil of [damaged, cutOff, ofAnother]) {
    await writeFile(cache, spoil(whole));
    const spoilt = await stat(cache);

    const daemon = await startDaemon(device, { program });
    await vi.waitUntil(async () => (await stat(cache)).ino !== spoilt.ino, WAITING);
    await daemon.close();

    expect((await readFile(cache)).length).toBeGreaterThan(100_000);
  }
});

test('where others can write, no code is kept, and none is believed', async () => {
  await chmod(folder, 0o777);
  await startAndRest();
  expect(await readdir(folder)).toEqual(['depotd.cjs', 'start.cjs']);

  await chmod(folder, 0o755);
  await startUntilKept();
  await chmod(cache, 0o666);
  const doubtful = await stat(cache);

  const daemon = await startDaemon(device, { program });
  await vi.waitUntil(async () => (await stat(cache)).ino !== doubtful.ino, WAITING);
  await daemon.close();
});

test('a daemon whose program an upgrade replaces goes on to read the texts of its own', async () => {
  const daemon = await startDaemon(device, { program });
  onTestFinished(() => daemon.close());
  await writeFile(join(folder, 'new'), randomBytes(1_500_000));
  await rename(join(folder, 'new'), join(folder, 'depotd.cjs'));

  const texts = (await (await daemon.get('texts?lang=zh-CN')).json()) as object;
  const page = await fetch(`${daemon.url}${daemon.base}/`);

  expect(Object.keys(texts)).toContain('page');
  expect(await page.text()).toMatch(/^<!doctype html>/i);
});

const WAITING = { timeout: 10_000 };

async function startUntilKept(): Promise<void> {
  const daemon = await startDaemon(device, { program });
  await vi.waitUntil(async () => (await readdir(folder)).includes('depotd.cache'), WAITING);
  await daemon.close();
}

/** Until the daemon has set the flags that it sets when its start is over. */
async function startAndRest(): Promise<void> {
  const daemon = await startDaemon(device, { program });
  await new Promise((resolve) => setTimeout(resolve, 2000));
  await daemon.close();
}

function damaged(whole: Buffer): Buffer {
  const copy = Buffer.from(whole);
  copy.writeUInt8(copy.readUInt8(50_000) ^ 1, 50_000);
  return copy;
}

function cutOff(whole: Buffer): Buffer {
  return whole.subarray(0, 60_000);
}

function ofAnother(whole: Buffer): Buffer {
  const copy = Buffer.from(whole);
  copy.write('0000000000000000');
  return copy;
}
