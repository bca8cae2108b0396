import { json } from '../../http/respond.ts';
import { get, type Route } from '../../http/route.ts';
import type { Overview } from '../feature.ts';
import type { DeviceSources } from './device.ts';

/** What the device is, and what is wrong with it. Loaded with the first request. */
export function deviceRoutes(tools: DeviceSources & { overview: Overview }): Route[] {
  return [
    get({
      path: 'admin/system/device',
      summary: 'The device: model, system, load, memory and space',
      params: {},
      handle: async () => json(await (await import('./device.ts')).readDevice(tools)),
    }),
    get({
      path: 'admin/system/doctor',
      summary: 'What is wrong with the device, and what to do about it',
      params: {},
      handle: async () => {
        const { runChecks } = await import('./doctor.ts');
        return json({ checks: await runChecks(await tools.overview.checks()) });
      },
    }),
  ];
}
