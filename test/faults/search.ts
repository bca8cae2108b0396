import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startDaemon } from '../device/daemon.ts';
import { createIpk } from '../device/ipk.ts';
import { createRandom } from '../support/random.ts';
import type { SearchOptions, SearchReport } from '../support/search-run.ts';
import { attempt } from './attempt.ts';
import { createBench, type Bench } from './bench.ts';
import { drawFaults } from './faults.ts';
import { UPLOADED } from './packages.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { OWN_CONFIGURATION } from './self-upgrade.ts';

/** Tries until the bounds of the report are reached. `--kind` takes one kind of job alone. */
export async function searchFaults(report: SearchReport, options: SearchOptions): Promise<void> {
  const { kind, workers = '1' } = options.further;
  const scenarios = SCENARIOS.filter((scenario) => kind === undefined || scenario.kind === kind);
  const points = new Map<string, number>();
  let next = 0;
  const work = async (): Promise<void> => {
    const bench = await createBench();
    try {
      await prepare(bench);
      while (report.goesOn()) {
        next += 1;
        await tryOnce({ bench, report, scenarios, points, seed: options.seed + next - 1 });
      }
    } finally {
      await bench.close();
    }
  };
  await Promise.all(Array.from({ length: Number(workers) }, work));
}

interface Try {
  bench: Bench;
  report: SearchReport;
  scenarios: readonly Scenario[];
  /** How many changes a job of a kind makes when nothing goes wrong. */
  points: Map<string, number>;
  seed: number;
}

async function tryOnce({ bench, report, scenarios, points, seed }: Try): Promise<void> {
  const random = createRandom(seed);
  const possible = scenarios.filter(
    ({ lane }) => lane === 'package' || bench.containers !== undefined,
  );
  const scenario = possible[random.below(possible.length)];
  if (scenario === undefined) throw new Error('cannot try: there is no such kind of job');
  const { kind } = scenario;
  let most = points.get(kind);
  if (most === undefined) {
    const { changes, findings } = await attempt({ bench, scenario, faults: [], random });
    for (const finding of findings) report.finding({ seed, kind, faults: [], finding });
    most = Math.max(changes, 10);
    points.set(kind, most);
  }
  const faults = drawFaults(random, most);
  const startedAt = performance.now();
  const result = await attempt({ bench, scenario, faults, random }).catch((error: unknown) => ({
    findings: [`the try broke off: ${String(error)}`],
  }));
  const ms = Math.round(performance.now() - startedAt);
  report.add(1, { seed, kind, faults, ms, ...result });
  for (const finding of result.findings) {
    report.finding({
      seed,
      kind,
      faults: faults.map(({ name, at }) => `${name} at ${at}`),
      finding,
    });
  }
}

/** The states of the device that jobs begin with. */
async function prepare(bench: Bench): Promise<void> {
  const { device } = bench;
  bench.publish(1);
  await device.opkg('update');
  await bench.keep('listed');
  await device.opkg('install', 'app-meta-numbered');
  bench.publish(2);
  await device.opkg('update');
  await bench.keep('installed');
  await bench.restore('listed');
  const daemon = await startDaemon(device);
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(createIpk(UPLOADED).bytes)]), 'uploaded.ipk');
  const url = `${daemon.url}${daemon.base}/admin/store/upload`;
  const answer = await fetch(url, { method: 'POST', body: form });
  await daemon.finished(((await answer.json()) as { task_id: string }).task_id);
  await daemon.close();
  await bench.keep('uploaded');
  for (const store of ['answers', 'ends at once'] as const) {
    await bench.restore('listed');
    bench.publish(1, store);
    await device.opkg('update');
    await device.opkg('install', 'depotd');
    await writeFile(join(device.root, 'etc/config/depotd'), OWN_CONFIGURATION);
    bench.publish(2, store);
    await device.opkg('update');
    await bench.keep(`newer store ${store}`);
  }
}
