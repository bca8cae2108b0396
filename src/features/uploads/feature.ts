import { createUploadFolder } from './folder.ts';
import { uploadPlan } from './install-plan.ts';
import { createUploads } from './receive.ts';
import { createHeldUploads } from './held.ts';
import { aboutFile, uploadRoutes } from './routes.ts';
import { ISTORE_RECORDS } from '../../package-management/names.ts';
import { createIstoreRecords, createRunRecords } from './run-records.ts';
import { unrunPlan } from './undo-plan.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import type { ChangePreview } from '../../package-management/change-preview.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';

const MIB = 1024 ** 2;

/** What a file that waits would do, and what it is. @throws DepotError not_found */
type PreviewUpload = (id: string, owner: string) => Promise<ChangePreview & { about: object }>;

/** Files that are sent to be installed, and undoing what they brought. */
export async function createUploadsFeature(
  context: FeatureContext,
  tools: PackageTools,
  canUndo: (taskId: string) => Promise<boolean>,
): Promise<Feature & { preview: PreviewUpload }> {
  const { notes, queue } = context;
  const folder = createUploadFolder(context, tools.manager);
  const istore = createIstoreRecords(context.paths.onDevice(ISTORE_RECORDS));
  const records = createRunRecords(notes, istore);
  const uploads = createUploads(folder);
  const held = createHeldUploads(folder.remove);
  queue.onChange(uploads.removeIfEnded);
  const forgetOf = async (taskId: string): Promise<void> => {
    const record = await records.findByJob(taskId);
    if (record !== undefined) await records.remove(record.id);
  };
  // An undo of the upload's task, whoever asked for it.
  queue.onChange(({ state, params }) => {
    if (state === 'done' && params.task_id !== undefined) void forgetOf(params.task_id);
  });
  await uploads.sweep(queue.all());
  const common = { lane: PACKAGE_LANE, admit: tools.manager.assertUsable };
  return {
    preview: async (id, owner) => {
      const upload = held.find(id, owner);
      const { previewFile } = await import('../../package-management/change-preview.ts');
      const { shownName, kind, package: content } = upload;
      const path = folder.fileOf(id, kind);
      const file = content && { path, ...content };
      return { ...(await previewFile(tools, { name: shownName, file })), about: aboutFile(upload) };
    },
    documentation: async () => (await import('./documentation.ts')).UPLOADS_DOCUMENTATION,
    keepsUp: () => held.sizeBytes() > 0,
    routes: ({ config }) =>
      uploadRoutes({
        ...context,
        ...{ uploads, folder, records, held, canUndo },
        limitBytes: config.main.upload_max_mb * MIB,
      }),
    jobs: {
      upload: {
        ...common,
        title: (subject) => `install ${subject}`,
        plan: (job) => uploadPlan({ ...tools, uploads: folder, records }, job),
      },
      unrun: {
        ...common,
        title: (subject) => `undo ${subject}`,
        plan: (job) => unrunPlan({ ...tools, records }, job),
      },
    },
  };
}
