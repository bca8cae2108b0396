import type { PackageTools } from '../../package-management/package-tools.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { auditRoutes } from './routes.ts';

/** Whether the device is what its packages made it, and what is known against those. */
export function createAuditFeature(
  { paths, stopping }: FeatureContext,
  { manager }: PackageTools,
): Feature {
  const tools = { paths, manager, stopping };
  return {
    documentation: async () => (await import('./documentation.ts')).AUDIT_DOCUMENTATION,
    routes: () => auditRoutes(tools),
    checks: async () => (await import('./checks.ts')).auditChecks(tools),
  };
}
