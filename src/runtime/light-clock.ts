/**
 * Node loads eight of its modules with the first touch of `performance`, of which the daemon uses
 * the clock alone. So another clock takes its place, which counts from the daemon's start as well;
 * but not where somebody has touched it before, who may have changed it.
 */
export function deferPerformance(): void {
  const { moduleLoadList = [] } = process as { moduleLoadList?: string[] };
  if (moduleLoadList.includes('NativeModule perf_hooks')) return;
  const start = process.hrtime();
  const now = (): number => {
    const [seconds, nanoseconds] = process.hrtime(start);
    return seconds * 1000 + nanoseconds / 1e6;
  };
  Object.defineProperty(globalThis, 'performance', {
    value: { now },
    writable: true,
    configurable: true,
  });
}
