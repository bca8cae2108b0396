import * as v from 'valibot';
import { createConcurrencyLimit } from '../../device/concurrency-limit.ts';
import { DepotError } from '../../errors.ts';
import { flag, isOff, isOn, oneOf } from '../../http/parameter-schemas.ts';
import { json } from '../../http/respond.ts';
import { get, type Route } from '../../http/route.ts';
import type { Job } from '../../jobs/job.ts';
import type { ChangePreview } from '../../package-management/change-preview.ts';
import { lastFetch } from '../../package-management/failed-feeds.ts';
import { restartsOf } from '../../package-management/restarts.ts';
import { packageName } from '../../package-management/names.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import type { PreviewedChange } from '../../package-management/preview.ts';

const operation = oneOf(['install', 'remove', 'upgrade', 'upload', 'undo', 'restore']);
const id = v.pipe(v.string(), v.maxLength(64, 'at most 64 characters are allowed'));

/** The parameters that one operation needs, and no other knows. */
const ASKED_ABOUT = [
  ['undo', 'task_id', 'cannot use the parameter task_id: it is for undo'],
  ['upload', 'file', 'cannot use the parameter file: it is for upload'],
  ['restore', 'backup', 'cannot use the parameter backup: it is for restore'],
] as const;

/** As many names of full length as a request line of 16 KiB has room for. */
const MOST_PACKAGES = 100;
const packages = v.pipe(
  v.array(packageName),
  v.maxLength(MOST_PACKAGES, `at most ${MOST_PACKAGES} packages are planned at once`),
);

/** Each preview reads all lists of the feeds: one at a time, so that many fill no memory. */
const LIMIT = { most: 1, mostWaiting: 32, busy: 'cannot plan now: too many plans are asked for' };

/** Previews of what is no change of packages by name. */
export interface OtherPreviews {
  /** A file that was sent and waits, with what it is. @throws DepotError not_found */
  upload: (file: string, owner: string) => Promise<ChangePreview & { about: object }>;
  /** A task that is undone. @throws DepotError not_found */
  undo: (
    id: string,
  ) => Promise<ChangePreview & { undo: { files: readonly string[]; keptIn?: string } }>;
  /** A backup that is brought back. @throws DepotError not_found, bad_request */
  restore: (
    backup: string,
    as: string | undefined,
  ) => Promise<
    ChangePreview & { restore: { report: readonly object[]; files: readonly string[] } }
  >;
}

export function previewRoutes(
  tools: PackageTools,
  { others, jobs }: { others: OtherPreviews; jobs: () => readonly Job[] },
): Route[] {
  const limited = createConcurrencyLimit(LIMIT);
  const answerOf = async (plan: ChangePreview): Promise<object> => {
    const restarts = await restartsOf(tools.manager, plan.changes);
    return { ...textOf(plan), ...(restarts.length > 0 && { restarts }) };
  };
  return [
    get({
      path: 'admin/store/plan',
      summary:
        'What a task would do, without doing it: packages, bytes, and what stands against it',
      params: {
        operation,
        package: v.optional(packages),
        all: v.optional(flag),
        translations: v.optional(flag),
        system: v.optional(flag),
        file: v.optional(id),
        task_id: v.optional(id),
        backup: v.optional(id),
        as: v.optional(v.picklist(['new'], 'new is expected')),
      },
      handle: async ({ params, session }) => {
        const { operation: wanted, file = '', task_id: task = '', backup = '', as } = params;
        for (const [other, name, refusal] of ASKED_ABOUT) {
          const isGiven = params[name] !== undefined;
          if ((wanted === other) !== isGiven) throw new DepotError('bad_request', refusal);
        }
        if (wanted === 'upload') {
          const { about, ...plan } = await limited(() => others.upload(file, session.token));
          return json({ ...(await answerOf(plan)), file: about });
        }
        if (wanted === 'undo') {
          const { undo, ...plan } = await limited(() => others.undo(task));
          return json({ ...(await answerOf(plan)), files: undo.files, kept_in: undo.keptIn });
        }
        if (wanted === 'restore') {
          const { restore, ...plan } = await limited(() => others.restore(backup, as));
          return json({ ...(await answerOf(plan)), ...restore });
        }
        const subjects = subjectsOf(params);
        const { previewChange } = await import('../../package-management/change-preview.ts');
        const plan = await limited(() =>
          previewChange(tools, {
            ...{ operation: wanted, subjects },
            isUntranslated: isOff(params.translations),
            isOfSystem: isOn(params.system),
            lastFetch: lastFetch(jobs()),
          }),
        );
        return json(await answerOf(plan));
      },
    }),
  ];
}

/** @throws DepotError bad_request unless there are either names or, of an upgrade, `all` */
function subjectsOf(params: {
  operation: string;
  package?: string[] | undefined;
  all?: string | undefined;
}): string[] {
  const names = params.package ?? [];
  if (isOn(params.all) && params.operation !== 'upgrade') {
    throw new DepotError('bad_request', 'cannot use the parameter all: it is for upgrade alone');
  }
  if (isOn(params.all) === names.length > 0) {
    const why = names.length === 0 ? 'it is missing' : 'it is given beside all=true';
    throw new DepotError('bad_request', `cannot use the parameter package: ${why}`);
  }
  return [...new Set(names)];
}

function textOf({ changes, problems, isPossible, freeBytes, ...left }: ChangePreview): object {
  const of = (action: PreviewedChange['action']): object[] =>
    changes.filter((change) => change.action === action).map(itemOf);
  const diskBytes = sum(changes.map((change) => change.diskBytes));
  return {
    installs: of('install'),
    upgrades: of('upgrade'),
    removes: of('remove'),
    download_bytes: sum(changes.map(({ downloadBytes = 0 }) => downloadBytes)),
    disk_bytes: diskBytes,
    free_bytes: freeBytes,
    free_after_bytes: freeBytes - diskBytes,
    problems,
    is_possible: isPossible,
    ...Object.fromEntries(Object.entries(left).filter(([, said]) => said.length > 0)),
  };
}

function itemOf({ name, version, reason, ...rest }: PreviewedChange): object {
  const { fromVersion, downloadBytes, diskBytes } = rest;
  const bytes = { download_bytes: downloadBytes, disk_bytes: diskBytes };
  return { name, version, from_version: fromVersion, reason, ...bytes };
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((all, one) => all + one, 0);
}
