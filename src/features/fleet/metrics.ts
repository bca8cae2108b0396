import { counter, gauge, type Metric } from '../../http/metrics-text.ts';
import type { Agent } from './agent/agent.ts';
import type { Fleet } from './agent/fleet.ts';
import { unixTimeOf } from './clock.ts';

/** The device's side of a fleet, for Prometheus. */
export function fleetMetrics(agent: Agent, { known, records }: Fleet): Metric[] {
  const { counts, polledMs, nextPollMs, failures, freeBytes } = known;
  const all = records.all();
  const over = all.flatMap(({ end, isReported }) =>
    end === undefined ? [] : [{ end, isReported }],
  );
  const ends = new Map<string, number>();
  for (const { end } of over) {
    const label = `${end.result} ${end.errorCode ?? ''}`;
    ends.set(label, (ends.get(label) ?? 0) + 1);
  }
  const metrics = [
    gauge('on', 'Whether the server may act on this device.', agent.isOn() ? 1 : 0),
    gauge('last_poll_timestamp_seconds', 'The last good poll.', timeOf(polledMs)),
    gauge('next_poll_timestamp_seconds', 'The next poll.', timeOf(nextPollMs)),
    gauge('poll_failures', 'Polls in a row that failed.', failures),
    gauge('actions_open', 'Actions that are not over.', all.length - over.length),
    gauge(
      'ends_unreported',
      'Ends that the server does not have yet.',
      over.filter(({ isReported }) => !isReported).length,
    ),
    ...(freeBytes === undefined
      ? []
      : [gauge('free_bytes', 'Free for packages, at the last poll.', freeBytes)]),
    counter(
      'polls_total',
      'Polls by what came of them.',
      Object.entries(counts.polls).map(([result, value]) => ({ labels: { result }, value })),
    ),
    counter(
      'reports_total',
      'What the server was sent about actions, by what it made of that.',
      [...counts.reports].map(([reception, value]) => ({ labels: { reception }, value })),
    ),
    counter('downloaded_bytes_total', 'Bytes of files of actions.', counts.downloadedBytes),
    counter(
      'mirror_failures_total',
      'Files of actions that a mirror did not bring.',
      counts.mirrorFailures,
    ),
    gauge(
      'actions',
      'Actions on record that are over, by result and code.',
      [...ends].map(([label, value]) => {
        const [result = '', code = ''] = label.split(' ');
        return { labels: { result, code }, value };
      }),
    ),
  ];
  return metrics.map((metric) => ({ ...metric, name: `depotd_fleet_${metric.name}` }));
}

function timeOf(momentMs: number | undefined): number {
  return momentMs === undefined ? 0 : unixTimeOf(momentMs);
}
