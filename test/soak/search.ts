import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import type { SearchOptions, SearchReport } from '../support/search-run.ts';
import { startForge, stopForge, WORKS, type Work } from './work.ts';
import type { TestDaemon } from '../device/daemon.ts';

interface Sample {
  minute: number;
  rssMib: number;
  descriptors: number;
}

/** The heap that OpenWrt's init script gives the daemon. */
const NODE_OPTIONS = '--max-old-space-size=64';
const SAMPLES = 180;
/** The share of the time after which it is warm: minute 2 of 15. */
const WARM_SHARE = 2 / 15;
/** Of the 15 minutes; in a shorter time the heap has not found its size yet. */
const MOST_GROWTH_MIB = 10;
const MOST_EARLY_GROWTH_MIB = 40;
const WHOLE_MINUTES = 15;
const MOST_NEW_DESCRIPTORS = 10;

/** Works on one daemon for `minutes`, and tells whether it grew after it was warm. */
export async function soak(report: SearchReport, options: SearchOptions): Promise<string> {
  const forge = await startForge();
  const device = await createDevice();
  await device.opkg('update');
  const daemon = await startDaemon(device, {
    set: [`forge.upstream=${forge.url}`],
    env: { NODE_OPTIONS },
  });
  const { pid } = daemon;
  const samples: Sample[] = [];
  const endsAt = performance.now() + options.minutes * 60_000;
  const isOver = (): boolean => performance.now() >= endsAt;
  try {
    const workers = WORKS.map((work) => repeat({ work, daemon, report, isOver }));
    const pauseMs = (options.minutes * 60_000) / SAMPLES;
    while (!isOver()) {
      await delay(pauseMs);
      const minute = options.minutes - (endsAt - performance.now()) / 60_000;
      const sample = await sampleOf(pid, minute);
      samples.push(sample);
      report.add(0, sample);
    }
    await Promise.all(workers);
    return judge(report, samples, options.minutes);
  } finally {
    await daemon.close();
    await device.close();
    await stopForge(forge.server);
  }
}

async function repeat({
  work,
  daemon,
  report,
  isOver,
}: {
  work: Work;
  daemon: TestDaemon;
  report: SearchReport;
  isOver: () => boolean;
}): Promise<void> {
  while (!isOver()) {
    const count = await work(daemon).catch((error: unknown) => {
      report.finding({ problem: `the work broke off: ${String(error)}` });
      return 0;
    });
    report.add(count);
    await delay(20);
  }
}

async function sampleOf(pid: number, minute: number): Promise<Sample> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  const kib = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
  const descriptors = (await readdir(`/proc/${pid}/fd`)).length;
  return { minute, rssMib: kib / 1024, descriptors };
}

/** The medians of the samples around the warm point and of the last ones, and the line between. */
function judge(report: SearchReport, samples: readonly Sample[], minutes: number): string {
  const width = Math.max(1, Math.floor(samples.length / 20));
  const warmAt = Math.floor(samples.length * WARM_SHARE);
  const warm = samples.slice(warmAt, warmAt + width);
  const last = samples.slice(-width);
  const growth = (of: (sample: Sample) => number): number =>
    median(last.map(of)) - median(warm.map(of));
  const rss = growth(({ rssMib }) => rssMib);
  const descriptors = growth((sample) => sample.descriptors);
  const slope = slopeOf(samples.slice(warmAt));
  const text = [
    `${median(warm.map(({ rssMib }) => rssMib)).toFixed(1)} MiB when warm`,
    `${median(last.map(({ rssMib }) => rssMib)).toFixed(1)} MiB at the end`,
    `${slope.toFixed(2)} MiB a minute`,
    `${descriptors} more descriptors`,
  ].join(', ');
  const mostGrowth = minutes < WHOLE_MINUTES ? MOST_EARLY_GROWTH_MIB : MOST_GROWTH_MIB;
  if (rss > mostGrowth) {
    report.finding({ problem: `the daemon grew by ${rss.toFixed(1)} MiB` });
  }
  if (descriptors > MOST_NEW_DESCRIPTORS) {
    report.finding({ problem: `${descriptors} more descriptors are open` });
  }
  return text;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Least squares, in MiB a minute. */
function slopeOf(samples: readonly Sample[]): number {
  const count = samples.length;
  const meanX = samples.reduce((sum, { minute }) => sum + minute, 0) / count;
  const meanY = samples.reduce((sum, { rssMib }) => sum + rssMib, 0) / count;
  const over = samples.reduce(
    (sum, { minute, rssMib }) => sum + (minute - meanX) * (rssMib - meanY),
    0,
  );
  const below = samples.reduce((sum, { minute }) => sum + (minute - meanX) ** 2, 0);
  return below === 0 ? 0 : over / below;
}
