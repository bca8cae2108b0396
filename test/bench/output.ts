import type { TestDaemon } from '../device/daemon.ts';
import { cpuSeconds, report, residentMb, timed } from './measures.ts';

/** A job that prints a million lines: what it costs the daemon, and whether the log is whole. */
export async function benchOutput(daemon: TestDaemon, lines: number): Promise<void> {
  const cpuBefore = cpuSeconds(daemon.pid);
  const memoryBefore = residentMb(daemon.pid);
  const { value: status, ms } = await timed(async () =>
    daemon.finished(await daemon.submit('install', { package: 'chatty' }), 120_000),
  );
  const cpu = cpuSeconds(daemon.pid) - cpuBefore;
  const grown = residentMb(daemon.pid) - memoryBefore;
  const log = await daemon.get('admin/system/tasks/log?task_id=latest');
  const printed = (await log.text())
    .split('\n')
    .filter(
      (line) => /\d/.test(line) && !/^(Installing|Downloading|Configuring)/.test(line),
    ).length;
  report('a million lines', {
    state: status.state,
    'lines in the log': printed,
    of: lines,
    's in all': ms / 1000,
    'daemon CPU s': cpu,
    'memory grown MB': grown,
  });
}
