import { setTimeout as delay } from 'node:timers/promises';

import { createApkDevice } from '../device/apk-device/apk-device.ts';
import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { tinyPackages } from '../device/packages/awkward-packages.ts';
import { median, report, timed } from './measures.ts';

/**
 * `APK=… OPKG=… node --import tsx test/bench/installs.ts [depotd.mjs …]`: installations of a small
 * package by the package manager alone and through each depotd, in turns, on a device each.
 */
const PAIRS = 11;
/** Others' changes are noticed, and copied, before the clock runs. */
const PAUSE_MS = 400;
const name = tinyPackages()[0]?.name ?? '';
const programs = process.argv.length > 2 ? process.argv.slice(2) : [undefined];

interface Bench {
  /** With a shell's word for the change, such as `add`. */
  run: Device['opkg'];
  device: Pick<Device, 'root' | 'env' | 'close'>;
}

await benchInstalls('apk', ['add', 'del'], async () => {
  const device = await createApkDevice();
  return { device, run: device.apk };
});
await benchInstalls('opkg', ['install', 'remove'], async () => {
  const device = await createDevice();
  return { device, run: device.opkg };
});

async function benchInstalls(
  manager: string,
  [install, remove]: [string, string],
  create: () => Promise<Bench>,
): Promise<void> {
  const alone = await create();
  await alone.run('update');
  const through = await Promise.all(programs.map((program) => withDaemon(create, program)));
  const times: number[][] = [[], ...through.map(() => [])];
  for (let pair = 0; pair <= PAIRS; pair += 1) {
    const works = [
      { run: alone.run, work: () => alone.run(install, name) },
      ...through.map(({ run, daemon, token }) => ({ run, work: () => installed(daemon, token) })),
    ];
    for (const [index, { run, work }] of works.entries()) {
      const { ms } = await timed<unknown>(work);
      // The first one is cold, and told apart.
      if (pair === 0) report(`${manager} ${index} cold`, { ms });
      else times[index]?.push(ms);
      await run(remove, name);
      await delay(PAUSE_MS);
    }
  }
  const [least = []] = times;
  for (const [index, own] of times.entries()) {
    report(`${manager} ${index}`, {
      'median ms': median(own),
      'more ms': median(own) - median(least),
    });
  }
  for (const { daemon, device } of through) {
    await daemon.close();
    await device.close();
  }
  await alone.device.close();
}

async function withDaemon(
  create: () => Promise<Bench>,
  program: string | undefined,
): Promise<Bench & { daemon: TestDaemon; token: string }> {
  const bench = await create();
  await bench.run('update');
  const options = program === undefined ? {} : { program };
  const daemon = await startDaemon(bench.device, options);
  return { ...bench, daemon, token: await daemon.token() };
}

/** By the stream of events: who asks again and again slows down what he waits for. */
async function installed({ submit, url, base, logOf }: TestDaemon, token: string): Promise<void> {
  const id = await submit('install', { package: name, token });
  const events = await fetch(`${url}${base}/admin/system/tasks/events?task_id=${id}`);
  if (!(await events.text()).includes('"state":"done"')) throw new Error(await logOf(id));
}
