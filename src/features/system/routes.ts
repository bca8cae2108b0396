import { PROBLEM_CODES } from '../../package-management/problem.ts';
import type { Overview } from '../feature.ts';
import { eventStream } from '../../http/event-stream.ts';
import { followDevice, type DeviceEvents } from '../../http/device-events.ts';
import { openApiDocument } from '../../http/openapi/document.ts';
import { METRICS_TYPE, metricsText } from '../../http/metrics-text.ts';
import { json, revalidated, unchanging } from '../../http/respond.ts';
import { get, getStream, openGet, type Route } from '../../http/route.ts';
import type { DeviceSources } from './device.ts';
import { once } from './once.ts';

export interface SystemTools extends DeviceSources {
  /** Id that the store's catalogue knows the device by. */
  storeId: () => Promise<string>;
  base: string;
  /** Whether nobody needs a session. */
  isOpen: boolean;
  overview: Overview;
  events: DeviceEvents;
  /** Aborts when the daemon stops: streams end then. */
  stopping: AbortSignal;
}

/** What the device is, and what is wrong with it. What tells of it is loaded when it is asked. */
export function deviceRoutes(tools: SystemTools): Route[] {
  const { storeId, manager, version, overview } = tools;
  return [
    get({
      path: 'admin/store/uid',
      summary: 'A stable random id of the device, its architecture and the version of the store',
      handle: async () => {
        const [uid, arch] = await Promise.all([storeId(), manager.architecture()]);
        return json({ uid, arch, version });
      },
    }),
    get({
      path: 'admin/system/device',
      summary: 'The device: model, system, load, memory and space',
      handle: async () => json(await (await import('./device.ts')).readDevice(tools)),
    }),
    get({
      path: 'admin/system/doctor',
      summary: 'What is wrong with the device, and what to do about it',
      handle: async () => {
        const { runChecks } = await import('./doctor.ts');
        return json({ checks: await runChecks(await overview.checks()) });
      },
    }),
  ];
}

export function daemonRoutes(tools: SystemTools): Route[] {
  const { version, base, isOpen, overview, events, stopping } = tools;
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
      handle: ({ context, watchSession }) =>
        eventStream((signal) => followDevice(events, signal), {
          signals: [context.req.raw.signal, stopping],
          watchSession,
        }),
    }),
    openGet({
      path: 'openapi.json',
      summary: 'This interface as OpenAPI 3.1',
      handle: async ({ context }) => {
        const { body, etag } = await document();
        return revalidated(context.req.raw, body, etag);
      },
    }),
    openGet({
      path: '/healthz',
      summary: 'Whether the daemon can do its work',
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
