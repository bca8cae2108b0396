import { createUploadFolder } from './folder.ts';
import { uploadPlan } from './install-plan.ts';
import { createUploads } from './receive.ts';
import { uploadRoutes } from './routes.ts';
import { createRunRecords } from './run-records.ts';
import { unrunPlan } from './undo-plan.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import type { PackageTools } from '../../package-management/tools.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';

const MIB = 1024 ** 2;

/** Files that are sent to be installed, and undoing what they brought. */
export async function createUploadsFeature(
  context: FeatureContext,
  tools: PackageTools,
): Promise<Feature> {
  const { notes, queue } = context;
  const folder = createUploadFolder(context, tools.manager);
  const records = createRunRecords(notes);
  const uploads = createUploads(folder);
  queue.onChange(uploads.removeIfEnded);
  await uploads.sweep(queue.all());
  const lane = PACKAGE_LANE;
  const admit = tools.manager.assertUsable;
  return {
    documentation: async () => (await import('./documentation.ts')).UPLOADS_DOCUMENTATION,
    routes: ({ config }) =>
      uploadRoutes({
        ...context,
        uploads,
        records,
        limitBytes: config.main.upload_max_mb * MIB,
        kinds: folder.kinds,
        freeBytes: folder.freeBytes,
      }),
    jobs: {
      upload: {
        lane,
        admit,
        title: (subject) => `install ${subject}`,
        plan: (job) => uploadPlan({ ...tools, uploads: folder, records }, job),
      },
      unrun: {
        lane,
        admit,
        title: (subject) => `undo ${subject}`,
        plan: (job) => unrunPlan({ ...tools, records }, job),
      },
    },
  };
}
