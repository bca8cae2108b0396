/** The process's own figures, under the names that Prometheus clients use. */
export function processLines(version: string): string[] {
  const { rss, heapUsed } = process.memoryUsage();
  const cpu = process.cpuUsage();
  return [
    '# HELP depotd_info The version that runs.',
    '# TYPE depotd_info gauge',
    `depotd_info{version="${version}"} 1`,
    '# TYPE process_resident_memory_bytes gauge',
    `process_resident_memory_bytes ${rss}`,
    '# TYPE nodejs_heap_size_used_bytes gauge',
    `nodejs_heap_size_used_bytes ${heapUsed}`,
    '# TYPE process_cpu_seconds_total counter',
    `process_cpu_seconds_total ${((cpu.user + cpu.system) / 1e6).toFixed(3)}`,
    '# TYPE process_start_time_seconds gauge',
    `process_start_time_seconds ${Math.floor(Date.now() / 1000 - process.uptime())}`,
  ];
}
