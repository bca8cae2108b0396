import * as v from 'valibot';
import {
  isPresent,
  type InstalledPackage,
  type PackageDatabase,
} from '../../package-management/database.ts';
import { isThere } from '../../device/is-there.ts';
import { unixNow, type Job } from '../../jobs/job.ts';
import { plainAct, type Act, type Plan, type StepContext } from '../../jobs/plan.ts';
import { packagesThatCame } from '../../package-management/dependencies.ts';
import {
  ONLY,
  transaction,
  type ChangeWork,
} from '../../package-management/transaction/transaction.ts';
import { failureError, type Failure } from '../../package-management/failure.ts';
import { keepAsked } from '../../package-management/transaction/keep-asked.ts';
import { chosen } from '../../package-management/transaction-slots.ts';
import { ADVICE } from '../../package-management/problem.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { PROGRAM, type UploadFolder } from './folder.ts';
import type { ReceivedUpload } from './receive.ts';
import type { RunRecord, RunRecords } from './run-records.ts';

const uploadParams = v.object({
  upload: v.string(),
  type: v.string(),
  md5: v.string(),
  package: v.optional(v.string()),
  version: v.optional(v.string()),
});

/** What the job keeps of a file that was received. */
export function paramsOf(upload: ReceivedUpload): Record<string, string> {
  const { id, kind, md5, package: content } = upload;
  const about = content && { package: content.name, version: content.version };
  return { upload: id, type: kind, md5, ...about };
}

export interface UploadPlanTools extends PackageTools {
  uploads: UploadFolder;
  records: RunRecords;
}

/**
 * upload: installs the file, and records which packages came. A package must be there afterwards in
 * the file's version; of a program its exit code tells, and that nothing is half installed.
 */
export function uploadPlan(tools: UploadPlanTools, { subject, params }: Job): Plan {
  const { manager, records, uploads } = tools;
  const file = v.parse(uploadParams, params);
  const isNewer = (entry: InstalledPackage | undefined, than = ''): entry is InstalledPackage =>
    isPresent(entry) && manager.compareVersions(entry.version, than) > 0;
  const judge: ChangeWork['judge'] = (after, _, { job, before }) => {
    if (file.type === PROGRAM && job.lastExitCode !== 0) {
      return { reason: `it ended with exit code ${job.lastExitCode ?? 'none'}`, names: [] };
    }
    const came = packagesThatCame(before, after);
    const half = came.find((name) => after.get(name)?.state !== 'installed');
    if (half !== undefined) return { reason: `${half} is not fully installed`, names: [half] };
    if (file.package === undefined) return undefined;
    const found = after.get(file.package);
    if (found?.state === 'installed' && found.version === file.version) return undefined;
    const reason = `${file.package} ${file.version ?? ''} is not installed`;
    return {
      ...{ reason, names: [file.package] },
      ...(isNewer(found, file.version) && { likely: notOlder(reason, found.version) }),
    };
  };
  const { steps, repair } = transaction(tools, ONLY, {
    verb: 'install',
    purpose: `install ${subject}`,
    removesWhatCame: true,
    putsBack: true,
    isForeign: file.type === PROGRAM,
    choose: async (context) => {
      const path = uploads.fileOf(file.upload, file.type);
      if (!(await isThere(path))) {
        throw failureError(`install ${subject}`, {
          code: 'not_found',
          reason: 'the file that was sent is not there any more',
          remedy:
            'Send it again: what waits lies in memory, and goes when the device is started again.',
        });
      }
      await manager.around.needSpace(`install ${subject}`);
      const content = file.package === undefined ? undefined : { path, name: file.package };
      if (manager.builds === undefined) await noteCurrent(context, await manager.installed(), file);
      chosen.write(context, { names: [], file: content });
    },
    command: () => uploads.installer(file.upload, file.type),
    judge,
    record: async (after, { job, before }) => {
      await keepAsked(tools, after, file.package === undefined ? [] : [file.package]);
      // Done again after a crash it would find that nothing came: what was before is forgotten.
      if ((await records.findByJob(job.id)) !== undefined) return;
      let ts = job.startedAt ?? unixNow();
      while ((await records.find(`${ts}-${file.md5}`)) !== undefined) ts += 1;
      await records.put({
        id: `${ts}-${file.md5}`,
        job: job.id,
        ts,
        md5: file.md5,
        file: subject,
        packages: packagesThatCame(before, after),
        ...(file.package === undefined ? {} : { package: file.package }),
        ...(wasAuto(before, file.package, await records.all()) ? { wasAuto: true } : {}),
      });
    },
    // Only an upload that was judged well has a record: of a program nothing else would tell.
    isComplete: async ({ job }) => (await records.findByJob(job.id)) !== undefined,
  });
  return { steps, repair: [...repair, forgetStep(tools)] };
}

/** Notes that nothing is done: the manager takes another build of a version for the same one. */
async function noteCurrent(
  { note }: StepContext,
  database: PackageDatabase,
  { package: name = '', version = '' }: v.InferOutput<typeof uploadParams>,
): Promise<void> {
  const entry = database.get(name);
  const isWhole = entry?.state === 'installed' && entry.isDamaged !== true;
  if (!isWhole || entry.version !== version) return;
  await note(
    `nothing to do: ${name} ${version} is there; for another build of it, remove it first`,
  );
}

/** Why a newer version stays: the package manager ended well and did not replace it. */
function notOlder(reason: string, version: string): Failure {
  return {
    code: 'not_allowed',
    reason: `${reason}: ${version} is there, and no older version is put in its place`,
    remedy: ADVICE.removeNewer,
  };
}

/**
 * A job that was cut off between its record and its end leaves a record of what the repair has
 * taken away again. Of what could not be taken away it stays, so that it can be undone.
 */
function forgetStep({ manager, records }: UploadPlanTools): Act {
  return plainAct('forget-record', 'forget the record', async ({ job }) => {
    const record = await records.findByJob(job.id);
    const database = await manager.installed();
    const isUndone = record?.packages.every((name) => !isPresent(database.get(name)));
    if (record !== undefined && isUndone === true) await records.remove(record.id);
  });
}

/** What an earlier upload holds counts as what it was before that. */
function wasAuto(before: PackageDatabase, name: string | undefined, records: readonly RunRecord[]) {
  const entry = before.get(name ?? '');
  if (!isPresent(entry)) return false;
  const earlier = records.findLast((record) => record.package === name);
  return entry.isAuto || (entry.isHeld === true && earlier?.wasAuto === true);
}
