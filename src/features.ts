import { createAuditFeature } from './features/audit/feature.ts';
import { createAppStatusFeature } from './features/app-status/feature.ts';
import { createBackupFeature } from './features/backup/feature.ts';
import { BACKUP_SECTION } from './features/backup/options.ts';
import { createContainersFeature } from './features/containers/feature.ts';
import { createContainerDataFeature, engineSocket } from './features/container-data/feature.ts';
import { CONTAINER_SECTION } from './features/container-data/options.ts';
import { createDisksFeature } from './features/disks/feature.ts';
import type { Feature, FeatureContext } from './features/feature.ts';
import { createFleetFeature } from './features/fleet/feature.ts';
import { FLEET_SECTION } from './features/fleet/options.ts';
import { createFeedsFeature } from './features/feeds/feature.ts';
import { createForgeFeature } from './features/forge/feature.ts';
import { FORGE_SECTION } from './features/forge/options.ts';
import { createIconsFeature } from './features/icons/feature.ts';
import { createIstoreFeature } from './features/istore/feature.ts';
import { createLoginFeature } from './features/login/feature.ts';
import { createPackagesFeature } from './features/packages/feature.ts';
import { PACKAGES_SECTION } from './features/packages/options.ts';
import { createPageFeature } from './features/page/feature.ts';
import { createPreviewFeature } from './features/preview/feature.ts';
import { createSelfUpgradeFeature } from './features/self-upgrade/feature.ts';
import { createStoreFeature } from './features/store/feature.ts';
import { createSystemFeature } from './features/system/feature.ts';
import { createTasksFeature } from './features/tasks/feature.ts';
import { createUndoFeature } from './features/undo/feature.ts';
import { createUploadsFeature } from './features/uploads/feature.ts';

/** Sections of the configuration, of those features that have options. */
export const SECTIONS = [
  BACKUP_SECTION,
  CONTAINER_SECTION,
  FORGE_SECTION,
  FLEET_SECTION,
  PACKAGES_SECTION,
] as const;

/**
 * THE LIST: a new feature is one more line here and a folder of its own. A feature that uses what
 * another one offers is given it as an argument.
 */
export async function createFeatures(context: FeatureContext): Promise<readonly Feature[]> {
  const containers = createContainersFeature(context, () => engineSocket(context));
  const packages = await createPackagesFeature(context, containers.ofApps);
  const login = createLoginFeature(context);
  const system = createSystemFeature(context, packages.tools.manager);
  const undo = createUndoFeature(context, packages.tools);
  const backup = createBackupFeature(context, packages.tools);
  const uploads = await createUploadsFeature(context, packages.tools, undo.canUndo);
  return [
    packages,
    undo,
    createPreviewFeature(context, packages.tools, {
      upload: uploads.preview,
      undo: undo.preview,
      restore: backup.preview,
    }),
    createAppStatusFeature(context, packages.tools, containers.runStates),
    createAuditFeature(context, packages.tools),
    createDisksFeature(context),
    backup,
    createFeedsFeature(context, packages.tools),
    createIconsFeature(context),
    createIstoreFeature(context, packages.tools, backup.backups),
    createStoreFeature(context, packages.tools),
    createContainerDataFeature(context),
    containers,
    uploads,
    createSelfUpgradeFeature(context, packages.tools),
    login,
    createTasksFeature(context, undo),
    system,
    createPageFeature(),
    createForgeFeature(context, login),
    await createFleetFeature(context, packages.tools, system.deviceId),
  ];
}
