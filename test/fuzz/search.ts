import { createDevice } from '../device/device.ts';
import { hostileFeeds } from './hostile/feeds.ts';
import { hostileFleets } from './hostile/fleets.ts';
import { hostileForges } from './hostile/forges.ts';
import type { SearchOptions, SearchReport } from '../support/search-run.ts';
import { archiveTargets } from './targets/archives.ts';
import { forgeTargets } from './targets/forge.ts';
import { httpPartTargets } from './targets/http-parts.ts';
import { recordTargets } from './targets/records.ts';
import { requestTarget } from './targets/requests.ts';
import { textTargets } from './targets/text.ts';
import { uciTargets } from './targets/uci.ts';
import { versionTargets } from './targets/versions.ts';
import type { FuzzTarget } from './target.ts';

/**
 * Feeds every target in turn until the bounds of the report are reached. `--target` takes those
 * whose name begins so; a finding is repeated with the seed that it names and that target.
 */
export async function searchInputs(report: SearchReport, options: SearchOptions): Promise<void> {
  // Two: a job of the one holds opkg's lock.
  const [device, served] = [await createDevice(), await createDevice()];
  await served.opkg('update');
  const all: FuzzTarget[] = [
    ...versionTargets(device),
    ...(await uciTargets(process.env.UCI)),
    ...(await archiveTargets()),
    ...textTargets(),
    ...httpPartTargets(),
    ...(await recordTargets()),
    ...(await forgeTargets()),
    await requestTarget(served),
    await hostileFeeds(),
    await hostileForges(),
    await hostileFleets(),
  ];
  const { target: wanted = '', scale = '1' } = options.further;
  const targets = all.filter(({ name }) => name.startsWith(wanted));
  const tries = new Map<string, number>();
  try {
    for (let seed = options.seed; report.goesOn(); seed += 1) {
      for (const target of targets) {
        if (!report.goesOn()) break;
        const runs = Math.max(1, Math.round(target.runs * Number(scale)));
        const outcome = await target.fuzz({ seed, runs });
        tries.set(target.name, (tries.get(target.name) ?? 0) + outcome.tries);
        report.add(outcome.tries, { target: target.name, seed, tries: outcome.tries });
        if (outcome.finding !== undefined) {
          report.finding({ target: target.name, seed, ...outcome.finding });
        }
      }
    }
  } finally {
    for (const target of all) await target.close?.();
    await device.close();
    await served.close();
  }
  for (const [name, count] of tries) console.log(`${name}: ${count}`);
}
