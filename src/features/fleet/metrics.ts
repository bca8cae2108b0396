import type { Metric } from '../../http/metrics-text.ts';
import type { Agent } from './agent/agent.ts';
import type { Fleet } from './agent/fleet.ts';
import { unixTimeOf } from './clock.ts';
import { isOpen } from './records/action-record.ts';

/** The device's side of a fleet, for Prometheus. */
export function fleetMetrics({
  agent,
  fleet: { known, records },
}: {
  agent: Agent;
  fleet: Fleet;
}): Metric[] {
  const { counts, polledMs, nextPollMs, failures, freeBytes } = known;
  const all = records.all();
  const gauge = (name: string, help: string, value: number): Metric => ({
    name: `depotd_fleet_${name}`,
    type: 'gauge',
    help,
    samples: [{ value }],
  });
  const ends = new Map<string, number>();
  for (const { end } of all) {
    if (end !== undefined) ends.set(labelOf(end), (ends.get(labelOf(end)) ?? 0) + 1);
  }
  return [
    gauge('on', 'Whether the server may act on this device.', agent.isOn() ? 1 : 0),
    gauge('last_poll_timestamp_seconds', 'The last good poll.', timeOf(polledMs)),
    gauge('next_poll_timestamp_seconds', 'The next poll.', timeOf(nextPollMs)),
    gauge('poll_failures', 'Polls in a row that failed.', failures),
    gauge('actions_open', 'Actions that are not over.', all.filter(isOpen).length),
    gauge(
      'ends_unreported',
      'Ends that the server does not have yet.',
      all.filter((record) => !isOpen(record) && !record.isReported).length,
    ),
    ...(freeBytes === undefined
      ? []
      : [gauge('free_bytes', 'Free for packages, at the last poll.', freeBytes)]),
    {
      name: 'depotd_fleet_polls_total',
      type: 'counter',
      help: 'Polls by what came of them.',
      samples: Object.entries(counts.polls).map(([result, value]) => ({
        labels: { result },
        value,
      })),
    },
    {
      name: 'depotd_fleet_reports_total',
      type: 'counter',
      help: 'What the server was sent about actions, by what it made of that.',
      samples: [...counts.reports].map(([reception, value]) => ({ labels: { reception }, value })),
    },
    {
      name: 'depotd_fleet_downloaded_bytes_total',
      type: 'counter',
      help: 'Bytes of files of actions.',
      samples: [{ value: counts.downloadedBytes }],
    },
    {
      name: 'depotd_fleet_mirror_failures_total',
      type: 'counter',
      help: 'Files of actions that a mirror did not bring.',
      samples: [{ value: counts.mirrorFailures }],
    },
    {
      name: 'depotd_fleet_actions',
      type: 'gauge',
      help: 'Actions on record that are over, by result and code.',
      samples: [...ends].map(([label, value]) => {
        const [result = '', code = ''] = label.split(' ');
        return { labels: { result, code }, value };
      }),
    },
  ];
}

function timeOf(momentMs: number | undefined): number {
  return momentMs === undefined ? 0 : unixTimeOf(momentMs);
}

function labelOf({
  result,
  errorCode,
}: {
  result: string;
  errorCode?: string | undefined;
}): string {
  return `${result} ${errorCode ?? ''}`;
}
