import { PROBLEM_CODES } from '../../package-management/problem.ts';
import type { Overview } from '../feature.ts';
import { eventStream } from '../../http/event-stream.ts';
import { followDevice, type DeviceEvents } from '../../http/device-events.ts';
import { openApiDocument } from '../../http/openapi/document.ts';
import { METRICS_TYPE, metricsText } from '../../http/metrics-text.ts';
import { json, revalidated, unchanging } from '../../http/respond.ts';
import { getStream, openGet, type Route } from '../../http/route.ts';

export interface SystemTools {
  version: string;
  base: string;
  /** Whether nobody needs a session. */
  isOpen: boolean;
  overview: Overview;
  events: DeviceEvents;
  /** Aborts when the daemon stops: streams end then. */
  stopping: AbortSignal;
}

/** What tells of the daemon itself. */
export function systemRoutes({
  version,
  base,
  isOpen,
  overview,
  events,
  stopping,
}: SystemTools): Route[] {
  const document = once(async () => {
    const [routes, passed] = [overview.routes(), await overview.passed()];
    const documentation = await overview.documentation();
    const described = { base, version, routes, passed, documentation, isOpen };
    return unchanging(
      JSON.stringify(await openApiDocument({ ...described, errorCodes: PROBLEM_CODES })),
    );
  });
  return [
    getStream({
      path: 'admin/system/events',
      summary: 'What happens on the device (Server-Sent Events)',
      params: {},
      handle: ({ context, watchSession }) =>
        eventStream((signal) => followDevice(events, signal), {
          signals: [context.req.raw.signal, stopping],
          watchSession,
        }),
    }),
    openGet({
      path: 'openapi.json',
      summary: 'This interface as OpenAPI 3.1',
      params: {},
      handle: async ({ context }) => {
        const { body, etag } = await document();
        return revalidated(context.req.raw, body, etag);
      },
    }),
    openGet({
      path: '/healthz',
      summary: 'Whether the daemon can do its work',
      params: {},
      handle: async () => {
        const { problems, facts } = await overview.health();
        const all = {
          version,
          uptime_s: Math.floor(process.uptime()),
          rss_bytes: process.memoryUsage().rss,
          ...facts,
        };
        return problems.length === 0
          ? json({ status: 'ok', ...all })
          : json({ status: 'failing', reasons: problems, ...all }, 503);
      },
    }),
    openGet({
      path: '/metrics',
      summary: 'Figures for Prometheus',
      params: {},
      handle: () =>
        new Response(metricsText(overview.metrics()), {
          headers: {
            'content-type': METRICS_TYPE,
            'cache-control': 'no-store',
            'x-content-type-options': 'nosniff',
          },
        }),
    }),
  ];
}

/** Single flight: made by the first call that succeeds, for all. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}
