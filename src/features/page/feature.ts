import { panelRoutes } from './routes.ts';
import type { Feature } from '../feature.ts';
export function createPageFeature(): Feature {
  return {
    documentation: async (base) => (await import('./documentation.ts')).pageDocumentation(base),
    routes: ({ config: { main } }) => panelRoutes({ base: main.base, auth: main.auth }),
  };
}
