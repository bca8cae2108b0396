// `npm run bench`: figures for the main road, each taken in one run on one machine. They are
// printed, not judged: machines differ.
import { createDevice } from '../device/device.ts';
import { chattyPackage, slowPackage, tinyPackages } from '../device/packages/awkward-packages.ts';
import { startDaemon } from '../device/daemon.ts';
import { benchLatency } from './latency.ts';
import { benchOutput } from './output.ts';
import { benchQueue } from './queue.ts';
import { benchReads } from './reads.ts';
import { benchStart } from './start.ts';

const QUEUED = Number(process.env.BENCH_QUEUED ?? 1000);
const LINES = 1_000_000;

if (!process.argv.includes('--no-start')) await benchStart();
const device = await createDevice({
  packages: [...tinyPackages(QUEUED), chattyPackage(LINES), slowPackage(3)],
});
await device.opkg('update');
const daemon = await startDaemon(device, { set: ['main.keep_jobs=2000', 'main.keep_log_mb=256'] });
try {
  await benchReads(daemon);
  await benchLatency({ daemon, device });
  await benchOutput(daemon, LINES);
  await benchQueue(daemon, QUEUED);
} finally {
  await daemon.close();
  await device.close();
}
