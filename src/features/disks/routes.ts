import type { Disks } from './disks.ts';
import { json } from '../../http/respond.ts';
import { get, type Route } from '../../http/route.ts';

export function diskRoutes(disks: Disks): Route[] {
  return [
    get({
      path: 'admin/store/get_block_devices',
      summary: 'Devices with a file system or a mount, by kernel name',
      handle: async () => json({ code: 200, msg: '', data: await disks.all() }),
    }),
    get({
      path: 'admin/system/disks',
      summary: 'The same with all mounts, and how full they are',
      handle: async () => json({ code: 200, data: await disks.allWithSpace() }),
    }),
  ];
}
