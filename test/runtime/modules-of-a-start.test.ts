import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DAEMON_PROGRAM } from '../device/daemon-process.ts';
import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { readQuery } from '../../src/http/parameters.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a start loads no module that is for later, and its clock runs', async () => {
  const folder = await temporaryFolder();
  const [preload, list] = [join(folder, 'preload.cjs'), join(folder, 'list.json')];
  await writeFile(
    preload,
    `const vm = require('node:vm'), { compileFunction } = vm, compiled = [];
    vm.compileFunction = (text, words, options) => {
      compiled.push(options.filename);
      return compileFunction(text, words, options);
    };
    const { Server } = require('node:net'), { listen } = Server.prototype, byThen = [];
    Server.prototype.listen = function (...words) {
      return listen.apply(this.once('listening', () => byThen.push(...process.moduleLoadList)), words);
    };
    process.on('SIGUSR2', () => require('node:fs').writeFileSync(${JSON.stringify(list)},
      JSON.stringify([process.moduleLoadList, performance.now(), compiled, byThen])))`,
  );
  const device = await createDevice();
  onTestFinished(() => device.close());
  const daemon = await startDaemon(device, { env: { NODE_OPTIONS: `--require=${preload}` } });
  onTestFinished(() => daemon.close());

  process.kill(daemon.pid, 'SIGUSR2');
  const read = async (): Promise<unknown> => JSON.parse(await readFile(list, 'utf8'));
  const [loaded, now, compiled, byThen] = (await vi.waitUntil(
    () => read().catch(() => undefined),
    60_000,
  )) as [string[], number, string[], string[]];

  expect(loaded).toContain('NativeModule http');
  const later = ['assert', 'crypto', 'http2', 'https', 'perf_hooks', 'v8', 'worker_threads'];
  expect(later.filter((name) => loaded.includes(`NativeModule ${name}`))).toEqual([]);
  expect(compiled).toEqual([]);
  expect(byThen).toContain('NativeModule http');
  const behind = ['internal/fs/promises', 'module', 'timers/promises'];
  expect(behind.filter((name) => byThen.includes(`NativeModule ${name}`))).toEqual([]);
  expect(now).toBeGreaterThan(0);
  expect(now).toBeLessThan(60_000);
});

test('what the sources import later is no part of what a start reads', async () => {
  const program = await readFile(join(dirname(DAEMON_PROGRAM), 'depotd.cjs'));
  const codeBytes = Number(program.toString('latin1', 0, 32).split(' ')[2]);
  const atStart = program.toString('latin1', 0, codeBytes);
  const packedAt = atStart.matchAll(/compiled\("[^"]+",textAt\((\d+),(\d+)\)\)/g);
  const later = [...packedAt]
    .map(([, from, length]) =>
      program.subarray(codeBytes + Number(from)).subarray(0, Number(length)),
    )
    .map((packed) => gunzipSync(packed).toString())
    .join('\n');

  // The fleet's, apk's and the page's own.
  for (const words of ['deploymentBase', '/lib/apk/db/scripts', 'Content-Security-Policy']) {
    expect([words, later.includes(words)]).toEqual([words, true]);
    expect([words, atStart.includes(words)]).toEqual([words, false]);
  }
  // Nor an expression of all emoji, which is a package's.
  expect(atStart.includes('Emoji_Modifier')).toBe(false);
});

test('a request without parameters is read without an address, whose class a start would compile', () => {
  const [without, given] = ['/a', '/a?b=c&d=e&b=f'].map(
    (path) => new Request(`http://localhost${path}`),
  );
  expect(readQuery(given as Request)).toEqual(
    new Map([
      ['b', ['c', 'f']],
      ['d', ['e']],
    ]),
  );

  const address = vi.spyOn(globalThis, 'URL');
  onTestFinished(() => address.mockRestore());
  expect(readQuery(without as Request)).toEqual(new Map());
  expect(address).not.toHaveBeenCalled();
});
