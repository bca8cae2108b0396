import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { nameFeeds } from '../device/further-feeds.ts';
import { childCpuSeconds, cpuSeconds, median, report, residentMb, timed } from './measures.ts';

/**
 * `available` over 10,000 packages in the lists of six feeds, 300 of them installed: the first
 * answer after an update, pages, and what it takes of memory, beside `grep` over the same lists.
 * Under load the processor's time is the figure to believe.
 */
const PACKAGES = 10_000;
const INSTALLED = 300;
const WORDS = (
  'network router filter for the daemon library of protocol support module driver web interface ' +
  'command line tool to provide small fast secure server client packet time usb wireless'
).split(' ');

const device = await createDevice();
const lists = join(device.root, 'var/opkg-lists');
await mkdir(lists, { recursive: true });
const names = ['base', 'packages', 'luci', 'routing', 'telephony', 'apps'];
await nameFeeds(device.root, names);
await writeLists();
await installSome();
const daemon = await startDaemon(device, {
  // As the start script has it.
  nodeFlags: ['--max-old-space-size=64', '--v8-pool-size=1'],
  env: { MALLOC_MMAP_THRESHOLD_: '131072' },
});
const ask = async (query: string): Promise<{ ms: number; total: number }> => {
  const { value, ms } = await timed(async () => {
    const answer = await daemon.get(`admin/store/available?${query}`);
    return (await answer.json()) as { total: number };
  });
  return { ms, total: value.total };
};
/** Milliseconds of the processor that the daemon uses for some work. */
async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = cpuSeconds(daemon.pid);
  await work();
  return (cpuSeconds(daemon.pid) - before) * 1000;
}

// The first requests of any kind load what the program itself has on the disk: that is not the list.
for (let count = 0; count < 200; count += 1) {
  await (await daemon.get('admin/store/installed')).text();
}
await delay(9000);
const atRest = residentMb(daemon.pid);
const firstCpu = await processorMs(async () => {
  const first = await ask('kind=all');
  report('the very first', { ms: first.ms, packages: first.total });
});
report('', { 'processor ms': firstCpu });

const firsts: { ms: number; cpu: number }[] = [];
for (let round = 1; round <= 5; round += 1) {
  for (const name of names) await utimes(join(lists, name), round, round);
  let ms = 0;
  const cpu = await processorMs(async () => ({ ms } = await ask('kind=all&q=filter')));
  firsts.push({ ms, cpu });
}
report('first after an update', {
  'median ms': median(firsts.map(({ ms }) => ms)),
  'median processor ms': median(firsts.map(({ cpu }) => cpu)),
});

const QUERIES = [
  'kind=all',
  'kind=all&q=fil',
  'kind=all&q=secure+web',
  'kind=all&sort=size',
  'q=a',
];
for (const query of QUERIES) {
  const times: number[] = [];
  const cpu = await processorMs(async () => {
    for (let page = 1; page <= 50; page += 1) times.push((await ask(`${query}&page=${page}`)).ms);
  });
  report(query, {
    'first ms': times[0] ?? NaN,
    'median ms': median(times),
    'processor ms a page': cpu / 50,
  });
}
const searches: number[] = [];
const searchCpu = await processorMs(async () => {
  for (const word of WORDS) searches.push((await ask(`kind=all&q=${word.slice(0, 3)}`)).ms);
});
report('another word each', {
  'median ms': median(searches),
  'processor ms': searchCpu / WORDS.length,
});

const GREPS = 20;
const grepStart = childCpuSeconds(process.pid);
const greps = Array.from({ length: GREPS }, () => {
  const begin = performance.now();
  execFileSync('sh', [
    '-c',
    `zcat ${names.map((name) => join(lists, name)).join(' ')} | grep -ci filter`,
  ]);
  return performance.now() - begin;
});
const grepCpu = ((childCpuSeconds(process.pid) - grepStart) * 1000) / GREPS;
report('zcat | grep', {
  'median ms': median(greps),
  'processor ms': grepCpu,
  'ratio of the first answer': median(firsts.map(({ ms }) => ms)) / median(greps),
  'of its processor time': median(firsts.map(({ cpu }) => cpu)) / grepCpu,
  'ratio of a search': median(searches) / median(greps),
});

const parallel = await timed(() =>
  Promise.all(
    Array.from({ length: 50 }, (_, index) => ask(`kind=all&q=f${index % 10}&per_page=200`)),
  ),
);
report('50 at once', { ms: parallel.ms });

// Garbage is collected seven seconds after the last answer.
await delay(9000);
const withIndex = residentMb(daemon.pid);
report('memory, MiB', {
  'at rest before': atRest,
  'with the list': withIndex,
  more: withIndex - atRest,
});
await delay(65_000);
const after = residentMb(daemon.pid);
report('a minute later', { MiB: after, more: after - atRest });
await daemon.close();
await device.close();

async function writeLists(): Promise<void> {
  for (const [feed, name] of names.entries()) {
    const paragraphs = Array.from({ length: PACKAGES / names.length }, (_, index) =>
      paragraphOf(`${name}-pkg-${index}`, feed * PACKAGES + index),
    );
    await writeFile(join(lists, name), gzipSync(paragraphs.join('')));
  }
}

function paragraphOf(name: string, seed: number): string {
  const word = (index: number): string =>
    WORDS[(seed * 7919 + index * 104_729) % WORDS.length] ?? '';
  const text = Array.from({ length: 8 + (seed % 40) }, (_, index) => word(index)).join(' ');
  const needs = Array.from({ length: seed % 9 }, (_, index) => `lib${word(index)}${seed % 50}`);
  return `Package: ${seed % 80 === 0 ? `app-meta-${name}` : name}
Version: ${seed % 30}.${seed % 7}.${seed % 11}-r${seed % 5}
Depends: ${['libc', ...needs].join(', ')}
License: GPL-2.0-or-later
Section: ${word(3)}
URL: https://example.invalid/${name}
CPE-ID: cpe:/a:example:${name}
Architecture: ${seed % 3 === 0 ? 'all' : 'x86_64'}
Installed-Size: ${seed * 13}
Filename: ${name}_${seed % 30}.ipk
Size: ${seed * 5}
SHA256sum: ${seed.toString(16).padStart(64, 'a')}
Description:  ${text.slice(0, 1).toUpperCase()}${text.slice(1)}.
`.concat('\n');
}

async function installSome(): Promise<void> {
  const status = join(device.root, 'usr/lib/opkg/status');
  const entries = Array.from({ length: INSTALLED }, (_, index) => {
    const name = `base-pkg-${index + 1}`;
    return `Package: ${name}\nVersion: 0.1-1\nDepends: libc\nStatus: install user installed\nArchitecture: all\nInstalled-Time: 1700000000\n\n`;
  });
  await writeFile(status, readFileSync(status, 'utf8') + entries.join(''));
}
