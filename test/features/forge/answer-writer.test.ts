import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createAnswerWriter,
  type AnswerWriter,
} from '../../../src/features/forge/answer-writer.ts';

/** The disk is a pipe, which takes what its reader has taken. */
const MIB = 1024 ** 2;

let folder: string;
let pipe: string;
let kept: number[];
let ends: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-writer-'));
  pipe = join(folder, 'pipe');
  kept = [];
  ends = 0;
  await promisify(execFile)('mkfifo', [pipe]);
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

function open(part: string, timeoutMs: number): AnswerWriter {
  const keep = (bytes: number): Promise<void> => {
    kept.push(bytes);
    return Promise.resolve();
  };
  return createAnswerWriter({
    partFile: part,
    about: {},
    mostBytes: 8 * MIB,
    timeoutMs,
    onWhole: keep,
    onEnd: () => (ends += 1),
  });
}

test('an answer waits for a slow disk and is kept whole', async () => {
  const writer = open(pipe, 20_000);
  const reader = createReadStream(pipe);
  await once(reader, 'open');
  let resumed = 0;
  const waits = [1, 2, 3].map(() => writer.write(Buffer.alloc(MIB, 'x'), () => (resumed += 1)));
  expect(waits).toEqual([false, false, false]);
  expect(resumed).toBe(0);
  let bytes = 0;
  reader.on('data', (piece) => (bytes += piece.length));
  await expect.poll(() => resumed).toBe(3);
  writer.commit();
  await expect.poll(() => kept).toEqual([3 * MIB + '{}\n'.length + 16]);
  await expect.poll(() => bytes).toBe(kept[0]);
  await expect.poll(() => ends).toBe(1);
});

test('a disk that takes nothing loses the copy, not the caller', async () => {
  const writer = open(pipe, 50);
  const reader = createReadStream(pipe);
  await once(reader, 'open');
  const resumed = new Promise<void>((resolve) => writer.write(Buffer.alloc(MIB), resolve));
  await resumed;
  expect(writer.write(Buffer.alloc(MIB), () => undefined)).toBe(true);
  writer.commit();
  reader.destroy();
  // Not by reading it: to open a pipe waits for a writer, and the last one may just have gone.
  await expect.poll(() => readdir(folder)).toEqual([]);
  expect(kept).toEqual([]);
});

test('an answer that becomes too large is given up without holding anybody', async () => {
  const part = join(folder, 'part');
  const writer = open(part, 20_000);
  let [held, resumed] = [0, 0];
  for (let count = 0; count < 20; count += 1) {
    if (!writer.write(Buffer.alloc(MIB), () => (resumed += 1))) held += 1;
  }
  writer.commit();
  await expect.poll(() => resumed).toBe(held);
  await expect.poll(() => readFile(part).catch(() => 'gone')).toBe('gone');
  expect(kept).toEqual([]);
});

test.each(['commit', 'discard'] as const)(
  'a copy that is given up ends once, also after a %s',
  async (way) => {
    const writer = open(join(folder, 'part'), 20_000);
    writer.write(Buffer.alloc(9 * MIB), () => undefined);
    writer[way]();

    await expect.poll(() => ends).toBe(1);
    expect([kept, await readdir(folder)]).toEqual([[], ['pipe']]);
  },
);
