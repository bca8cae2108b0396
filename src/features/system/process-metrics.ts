import type { Metric } from '../../http/metrics-text.ts';

/** The process's own figures, under the names that Prometheus clients use. */
export function processMetrics(version: string): Metric[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    {
      name: 'depotd_info',
      type: 'gauge',
      help: 'The version that runs.',
      samples: [{ labels: { version }, value: 1 }],
    },
    {
      name: 'process_resident_memory_bytes',
      type: 'gauge',
      help: 'Resident memory.',
      samples: [{ value: rss }],
    },
    {
      name: 'nodejs_heap_size_used_bytes',
      type: 'gauge',
      help: 'What is in use of the JavaScript heap.',
      samples: [{ value: heapUsed }],
    },
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      help: 'Processor time, user and system.',
      samples: [{ value: (user + system) / 1e6 }],
    },
    {
      name: 'process_start_time_seconds',
      type: 'gauge',
      help: 'When the process started, in Unix seconds.',
      samples: [{ value: Math.floor(Date.now() / 1000 - process.uptime()) }],
    },
  ];
}
