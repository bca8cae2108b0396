import type { ErrorCode } from '../../errors.ts';
import { counter, gauge, type Metric, type Sample } from '../../http/metrics-text.ts';
import type { Route } from './routes.ts';
import type { PoolStats } from './upstream/pool.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** A request that an operation was found for, when it is over. */
interface FinishedRequest {
  route: Route;
  method: string;
  /** 0 if the caller went away before the answer. */
  status: number;
  seconds: number;
  requestBytes: number;
  responseBytes: number;
}

/** Upper bounds in seconds. Merges and archives take long. */
const BUCKETS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];

const STATUS_CLASSES = ['gone', '1xx', '2xx', '3xx', '4xx', '5xx'];

interface Counts extends Pick<FinishedRequest, 'seconds' | 'requestBytes' | 'responseBytes'> {
  labels: Record<string, string>;
  /** Requests by class of their status: `2xx`, or `gone`. */
  byStatus: Map<string, number>;
  buckets: number[];
  count: number;
}

/** By operation. Labels come from the table of routes, never from a request: they are bounded. */
export function createMetrics() {
  const byOperation = new Map<string, Counts>();
  const failures = new Map<ErrorCode, number>();

  const countsOf = (route: Route, method: string): Counts => {
    const operation = `${method} ${route.pattern}`;
    const known = byOperation.get(operation);
    if (known !== undefined) return known;
    const counts = {
      labels: { method, route: route.pattern },
      byStatus: new Map(),
      buckets: BUCKETS.map(() => 0),
      count: 0,
      seconds: 0,
      requestBytes: 0,
      responseBytes: 0,
    };
    byOperation.set(operation, counts);
    return counts;
  };

  return {
    record: (request: FinishedRequest): void => {
      const { route, method, status, seconds, requestBytes, responseBytes } = request;
      const counts = countsOf(route, method);
      add(counts.byStatus, STATUS_CLASSES[Math.floor(status / 100)] ?? 'gone');
      const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
      if (bucket !== -1) counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1;
      counts.count += 1;
      counts.seconds += seconds;
      counts.requestBytes += requestBytes;
      counts.responseBytes += responseBytes;
    },
    /** A request that the proxy itself refused or failed. */
    recordFailure: (code: ErrorCode): void => add(failures, code),
    report: (pool: PoolStats) => reportOf([...byOperation.values()], failures, pool),
  };
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function reportOf(
  all: readonly Counts[],
  failures: ReadonlyMap<ErrorCode, number>,
  { open, idle, waiting }: PoolStats,
): Metric[] {
  return [
    counter(
      'depotd_forge_requests_total',
      'Requests to the forge by operation and class of status.',
      all.flatMap(({ labels, byStatus }) =>
        [...byStatus].map(([status, value]) => ({ labels: { ...labels, status }, value })),
      ),
    ),
    {
      name: 'depotd_forge_request_duration_seconds',
      type: 'histogram',
      help: 'Time from the request to the end of its answer.',
      samples: all.flatMap(durationSamples),
    },
    ...(['request', 'response'] as const).map((side) =>
      counter(
        `depotd_forge_${side}_bytes_total`,
        `Bytes of ${side} bodies.`,
        all.map((counts) => ({ labels: counts.labels, value: counts[`${side}Bytes`] })),
      ),
    ),
    counter(
      'depotd_forge_failures_total',
      'Requests that the proxy itself refused or failed.',
      [...failures].map(([error, value]) => ({ labels: { error }, value })),
    ),
    gauge('depotd_forge_connections', 'Connections to the forge, and requests that wait for one.', [
      { labels: { state: 'busy' }, value: open - idle },
      { labels: { state: 'idle' }, value: idle },
      { labels: { state: 'waiting' }, value: waiting },
    ]),
  ];
}

/** The buckets of a histogram are cumulative. */
function durationSamples({ labels, buckets, count, seconds }: Counts): Sample[] {
  let below = 0;
  return [
    ...BUCKETS.map((bound, index) => ({
      suffix: '_bucket' as const,
      labels: { ...labels, le: String(bound) },
      value: (below += buckets[index] ?? 0),
    })),
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
    { suffix: '_sum', labels, value: Number(seconds.toFixed(6)) },
    { suffix: '_count', labels, value: count },
  ];
}
