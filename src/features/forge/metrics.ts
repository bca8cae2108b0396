import type { ErrorCode } from '../../errors.ts';
import type { Route } from './routes.ts';
import type { PoolStats } from './upstream/pool.ts';

/**
 * Counts by operation. The labels come from the table of routes, never from a request, so their
 * number is bounded.
 */
export interface Metrics {
  /** A request that an operation was found for, when it is over. */
  record(request: FinishedRequest): void;
  /** A request that the proxy itself refused or failed. */
  recordFailure(code: ErrorCode): void;
  /** Lines of the Prometheus text format, version 0.0.4. */
  lines(pool: PoolStats | undefined): string[];
}

export interface FinishedRequest {
  route: Route;
  method: string;
  /** 0 where the caller went away before the answer. */
  status: number;
  seconds: number;
  requestBytes: number;
  responseBytes: number;
}

/** Upper bounds in seconds. Merges and archives take long. */
const BUCKETS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];

const STATUS_CLASSES = ['gone', '1xx', '2xx', '3xx', '4xx', '5xx'];

interface Counts {
  labels: string;
  /** By class: `2xx`, or `gone`. */
  byStatus: Map<string, number>;
  buckets: number[];
  count: number;
  seconds: number;
  requestBytes: number;
  responseBytes: number;
}

export function createMetrics(): Metrics {
  const byRoute = new Map<Route, Map<string, Counts>>();
  const failures = new Map<ErrorCode, number>();

  const countsOf = (route: Route, method: string): Counts => {
    const byMethod = byRoute.get(route) ?? new Map<string, Counts>();
    byRoute.set(route, byMethod);
    const known = byMethod.get(method);
    if (known !== undefined) return known;
    const labels = `method="${method}",route="${route.pattern}"`;
    const counts = {
      labels,
      byStatus: new Map(),
      buckets: BUCKETS.map(() => 0),
      count: 0,
      seconds: 0,
      requestBytes: 0,
      responseBytes: 0,
    };
    byMethod.set(method, counts);
    return counts;
  };

  return {
    record: ({ route, method, status, seconds, requestBytes, responseBytes }) => {
      const counts = countsOf(route, method);
      add(counts.byStatus, STATUS_CLASSES[Math.floor(status / 100)] ?? 'gone');
      const bucket = bucketOf(seconds);
      if (bucket < BUCKETS.length) counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1;
      counts.count += 1;
      counts.seconds += seconds;
      counts.requestBytes += requestBytes;
      counts.responseBytes += responseBytes;
    },
    recordFailure: (code) => add(failures, code),
    lines: (pool) => {
      const all = [...byRoute.values()].flatMap((byMethod) => [...byMethod.values()]);
      return [
        ...requestLines(all),
        ...durationLines(all),
        ...byteLines(all),
        ...failureLines(failures),
        ...poolLines(pool),
      ];
    },
  };
}

/** @returns the number of buckets where none is long enough */
function bucketOf(seconds: number): number {
  let bucket = 0;
  while (seconds > (BUCKETS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
  return bucket;
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function requestLines(all: Counts[]): string[] {
  const name = 'depotd_forge_requests_total';
  const lines = all.flatMap(({ labels, byStatus }) =>
    [...byStatus].map(([status, count]) => `${name}{${labels},status="${status}"} ${count}`),
  );
  return [
    `# HELP ${name} Requests to the forge by operation and class of status.`,
    `# TYPE ${name} counter`,
    ...lines,
  ];
}

function durationLines(all: Counts[]): string[] {
  const name = 'depotd_forge_request_duration_seconds';
  const lines = all.flatMap(({ labels, buckets, count, seconds }) => {
    let total = 0;
    const below = BUCKETS.map(
      (bound, index) => `${name}_bucket{${labels},le="${bound}"} ${(total += buckets[index] ?? 0)}`,
    );
    return [
      ...below,
      `${name}_bucket{${labels},le="+Inf"} ${count}`,
      `${name}_sum{${labels}} ${seconds.toFixed(6)}`,
      `${name}_count{${labels}} ${count}`,
    ];
  });
  return [
    `# HELP ${name} Time from the request to the end of its answer.`,
    `# TYPE ${name} histogram`,
    ...lines,
  ];
}

function byteLines(all: Counts[]): string[] {
  return (['request', 'response'] as const).flatMap((side) => {
    const name = `depotd_forge_${side}_bytes_total`;
    const lines = all.map(
      (counts) =>
        `${name}{${counts.labels}} ${side === 'request' ? counts.requestBytes : counts.responseBytes}`,
    );
    return [`# HELP ${name} Bytes of ${side} bodies.`, `# TYPE ${name} counter`, ...lines];
  });
}

function failureLines(failures: Map<ErrorCode, number>): string[] {
  const name = 'depotd_forge_failures_total';
  const lines = [...failures].map(([code, count]) => `${name}{error="${code}"} ${count}`);
  return [
    `# HELP ${name} Requests that the proxy itself refused or failed.`,
    `# TYPE ${name} counter`,
    ...lines,
  ];
}

function poolLines(pool: PoolStats | undefined): string[] {
  const name = 'depotd_forge_connections';
  const { open, idle, waiting } = pool ?? { open: 0, idle: 0, waiting: 0 };
  const lines = [
    `${name}{state="busy"} ${open - idle}`,
    `${name}{state="idle"} ${idle}`,
    `${name}{state="waiting"} ${waiting}`,
  ];
  return [
    `# HELP ${name} Connections to the forge, and requests that wait for one.`,
    `# TYPE ${name} gauge`,
    ...lines,
  ];
}
