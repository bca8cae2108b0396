import type { Forge } from '../forge/forge.ts';
import { isEnded, type Job } from '../../jobs/job.ts';
import type { Queue } from '../../jobs/queue.ts';
import { eventStream } from '../../http/event-stream.ts';
import { followDevice, type DeviceEvents } from './device-events.ts';
import { openApiDocument } from '../../http/openapi.ts';
import { json, revalidated } from '../../http/respond.ts';
import { get, openGet, type Route } from '../../http/route.ts';

export interface SystemTools {
  queue: Queue;
  version: string;
  /** What keeps the daemon from doing its work; empty when nothing does. */
  ailments: () => Promise<string[]>;
  /**
   * The forge behind the device: its operations, what is known of it, and its figures. Its failing
   * keeps nothing else from working.
   */
  forge: Pick<Forge, 'describe' | 'health' | 'metrics'>;
  events: DeviceEvents;
  base: string;
  /** Aborts when the daemon stops: streams end then. */
  stopping: AbortSignal;
  /** All routes, these among them. */
  routes: () => Route[];
}

/** What tells of the daemon itself. */
export function systemRoutes({
  queue,
  version,
  ailments,
  forge,
  events,
  base,
  stopping,
  routes,
}: SystemTools): Route[] {
  return [
    get({
      path: 'admin/system/events',
      summary: 'What happens on the device (Server-Sent Events)',
      params: {},
      handle: ({ context, isSessionOpen }) =>
        eventStream((signal) => followDevice(events, signal), {
          signals: [context.req.raw.signal, stopping],
          isSessionOpen,
        }),
    }),
    openGet({
      path: 'openapi.json',
      summary: 'This interface as OpenAPI 3.1',
      params: {},
      handle: async ({ context }) =>
        revalidated(
          context.req.raw,
          JSON.stringify(
            await openApiDocument({ base, version, routes: routes(), forge: forge.describe() }),
          ),
        ),
    }),
    openGet({
      path: '/healthz',
      summary: 'Whether the daemon can do its work',
      params: {},
      handle: async () => {
        const reasons = await ailments();
        const { rss } = process.memoryUsage();
        const facts = {
          version,
          uptime_s: Math.floor(process.uptime()),
          rss_bytes: rss,
          forge: forge.health(),
        };
        return reasons.length === 0
          ? json({ status: 'ok', ...facts })
          : json({ status: 'failing', reasons, ...facts }, 503);
      },
    }),
    openGet({
      path: '/metrics',
      summary: 'Figures for Prometheus',
      params: {},
      handle: () =>
        new Response(
          `${metricsOf(queue.all(), version)}${forge
            .metrics()
            .map((line) => `${line}\n`)
            .join('')}`,
          {
            headers: {
              'content-type': 'text/plain; version=0.0.4; charset=utf-8',
              'cache-control': 'no-store',
            },
          },
        ),
    }),
  ];
}

/** Prometheus' text format, version 0.0.4. */
function metricsOf(jobs: readonly Job[], version: string): string {
  const states = ['queued', 'running', 'done', 'failed', 'stopped', 'interrupted'] as const;
  const { rss, heapUsed } = process.memoryUsage();
  const cpu = process.cpuUsage();
  return [
    '# HELP depotd_info The version that runs.',
    '# TYPE depotd_info gauge',
    `depotd_info{version="${version}"} 1`,
    '# HELP depotd_jobs Jobs on record, by state.',
    '# TYPE depotd_jobs gauge',
    ...states.map(
      (state) =>
        `depotd_jobs{state="${state}"} ${jobs.filter((job) => job.state === state).length}`,
    ),
    '# HELP depotd_jobs_unfinished Jobs that have not ended.',
    '# TYPE depotd_jobs_unfinished gauge',
    `depotd_jobs_unfinished ${jobs.filter(({ state }) => !isEnded(state)).length}`,
    '# TYPE process_resident_memory_bytes gauge',
    `process_resident_memory_bytes ${rss}`,
    '# TYPE nodejs_heap_size_used_bytes gauge',
    `nodejs_heap_size_used_bytes ${heapUsed}`,
    '# TYPE process_cpu_seconds_total counter',
    `process_cpu_seconds_total ${((cpu.user + cpu.system) / 1e6).toFixed(3)}`,
    '# TYPE process_start_time_seconds gauge',
    `process_start_time_seconds ${Math.floor(Date.now() / 1000 - process.uptime())}`,
    '',
  ].join('\n');
}
