import type { Feature, FeatureContext } from '../feature.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import type { Store } from './open-store.ts';
import { storeRoutes } from './routes.ts';

/** Finding apps and packages, and all about one. Loaded with the first request for any of it. */
export function createStoreFeature(context: FeatureContext, tools: PackageTools): Feature {
  let store: Promise<Store> | undefined;
  const open = (): Promise<Store> =>
    (store ??= import('./open-store.ts').then(({ openStore }) => openStore(context, tools)));
  return {
    documentation: async () => (await import('./documentation.ts')).STORE_DOCUMENTATION,
    routes: () => storeRoutes(open),
    close: async () => (await store)?.close(),
  };
}
