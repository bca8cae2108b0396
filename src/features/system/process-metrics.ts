import { counter, gauge, type Metric } from '../../http/metrics-text.ts';

/** The process's own figures, under the names that Prometheus clients use. */
export function processMetrics(version: string): Metric[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const startedAt = Math.floor(Date.now() / 1000 - process.uptime());
  return [
    gauge('depotd_info', 'The version that runs.', [{ labels: { version }, value: 1 }]),
    gauge('process_resident_memory_bytes', 'Resident memory.', rss),
    gauge('nodejs_heap_size_used_bytes', 'What is in use of the JavaScript heap.', heapUsed),
    counter('process_cpu_seconds_total', 'Processor time, user and system.', (user + system) / 1e6),
    gauge('process_start_time_seconds', 'When the process started, in Unix seconds.', startedAt),
  ];
}
