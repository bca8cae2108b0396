import { json } from '../../http/respond.ts';
import { get, type Route } from '../../http/route.ts';

export interface IdentityTools {
  /** That the store's catalogue knows. */
  storeId: () => Promise<string>;
  architecture: () => Promise<string>;
  version: string;
}

/** What the store's page tells its catalogue of the device it runs on. */
export function identityRoutes({ storeId, architecture, version }: IdentityTools): Route[] {
  return [
    get({
      path: 'admin/store/uid',
      summary: 'A stable random id of the device, its architecture and the version of the store',
      params: {},
      handle: async () => {
        const [uid, arch] = await Promise.all([storeId(), architecture()]);
        return json({ uid, arch, version });
      },
    }),
  ];
}
