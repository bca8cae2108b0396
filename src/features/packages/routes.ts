import { join } from 'node:path';
import * as v from 'valibot';
import { readSmallFile } from '../../device/owner-file.ts';
import { DepotError } from '../../errors.ts';
import { isEnded, type Job } from '../../jobs/job.ts';
import { confirmSeconds, devicePath, flag, isOn } from '../../http/parameter-schemas.ts';
import { packageName } from '../../package-management/names.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';
import type { PackageTools } from '../../package-management/tools.ts';
import type { FeatureContext } from '../feature.ts';
import { holdRoutes } from './hold.ts';
import { json, revalidated, type TaskResult } from '../../http/respond.ts';
import { panelUrl } from '../../http/panel-url.ts';
import { get, postTask, type ApiRequest, type Route } from '../../http/route.ts';
import { submissionResult } from '../../http/task-result.ts';

type StoreTools = Pick<FeatureContext, 'queue' | 'submit' | 'logs' | 'paths' | 'setOption'> &
  PackageTools;

const configureParams = { path: v.optional(devicePath), enable: v.optional(flag) };
const confirm = { confirm_s: v.optional(confirmSeconds) };
const installParams = {
  ...confirm,
  package: packageName,
  autoconf: v.optional(flag),
  translations: v.optional(flag),
  ...configureParams,
};

const UPDATE_EVERY = { section: 'packages', option: 'update_every_h' };
const hours = v.pipe(
  v.string(),
  v.regex(
    /^(?:0|[1-9]\d{0,2}|[1-7]\d{3}|8[0-6]\d\d|87[0-5]\d|8760)$/,
    'a number of hours, 8760 at most, is expected',
  ),
);

/** The operations of the package store, below `admin/store/`. */
export function storeRoutes(tools: StoreTools): Route[] {
  const { catalog } = tools;
  const submit = createSubmit(tools);
  return [
    get({
      path: 'admin/store/token',
      summary: 'The token that changing requests carry, and whether they are allowed at all',
      params: { panel_url: v.optional(flag) },
      handle: (request) => answerToken(request, tools.paths.uciDir),
    }),
    get({
      path: 'admin/store/installed',
      summary: 'The installed apps',
      params: {},
      handle: async ({ context }) => {
        const { body, etag } = await catalog.installed();
        return revalidated(context.req.raw, body, etag);
      },
    }),
    get({
      path: 'admin/store/status',
      summary: 'One app or package',
      params: { package: packageName },
      handle: async ({ params, context }) =>
        revalidated(context.req.raw, JSON.stringify(await catalog.status(params.package))),
    }),
    postTask({
      path: 'admin/store/install',
      summary: 'Install an app, and configure it where autoconf is 1',
      params: installParams,
      handle: ({ params: { package: name, ...rest } }) => submit('install', name, rest),
    }),
    postTask({
      path: 'admin/store/autoconf',
      summary: 'Configure an installed app',
      params: { package: packageName, ...configureParams },
      handle: ({ params: { package: name, ...rest } }) => submit('autoconf', name, rest),
    }),
    postTask({
      path: 'admin/store/remove',
      summary: 'Remove an app, what came with it and its containers; purge: their data, too',
      params: {
        ...{ package: packageName, system: v.optional(flag), purge: v.optional(flag) },
        ...confirm,
      },
      handle: ({ params: { package: name, ...rest } }) => submit('remove', name, rest),
    }),
    postTask({
      path: 'admin/store/upgrade',
      summary: 'Upgrade an app and what came with it, or with all what is not of the firmware',
      params: { package: v.optional(packageName), all: v.optional(flag), ...confirm },
      handle: ({ params }) => {
        const [subject, target] = upgradeTarget(params);
        return submit('upgrade', subject, { ...target, confirm_s: params.confirm_s });
      },
    }),
    postTask({
      path: 'admin/store/update',
      summary:
        'Fetch the lists of what is available, and by itself every so many hours from now on',
      params: { every_h: v.optional(hours) },
      handle: async ({ params: { every_h: every } }) => {
        if (every !== undefined) await tools.setOption(UPDATE_EVERY, every);
        return submit('update', '');
      },
    }),
    ...holdRoutes(tools),
    get({
      path: 'admin/store/log',
      summary: 'The newest package task (deprecated)',
      params: {},
      handle: async () => json(await newestTask(tools)),
    }),
  ];
}

type Submit = (
  kind: string,
  subject: string,
  params?: Record<string, string | undefined>,
) => Promise<Response>;

function createSubmit({ submit }: Pick<StoreTools, 'submit'>): Submit {
  return async (kind, subject, params = {}) => {
    const given = Object.fromEntries(
      Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const submission = await submit(kind, subject, given);
    return json(
      'conflict' in submission
        ? conflictResult(kind, subject, submission.conflict)
        : submissionResult(submission),
    );
  };
}

/** Of a file that its owner edits by hand. */
const MOST_CONFIG_BYTES = 1024 ** 2;

async function answerToken(
  { context, params, session: { token, mayWrite } }: ApiRequest<{ panel_url?: string | undefined }>,
  uciDir: string,
): Promise<Response> {
  const readServer = (): Promise<string | undefined> =>
    readSmallFile(join(uciDir, 'uhttpd'), MOST_CONFIG_BYTES);
  const url = isOn(params.panel_url) ? await panelUrl(context, readServer) : undefined;
  return json({ token, may_write: mayWrite ? undefined : false, panel_url: url });
}

/**
 * The subject of the job, and its parameters.
 * @throws DepotError bad_request unless there is either a name or `all`
 */
function upgradeTarget({
  package: name,
  all,
}: {
  package?: string | undefined;
  all?: string | undefined;
}): [string, Record<string, string>] {
  if ((name !== undefined) === isOn(all)) {
    const why = name === undefined ? 'it is missing' : 'it is given beside all=true';
    throw new DepotError('bad_request', `cannot use the parameter package: ${why}`);
  }
  return name === undefined ? ['', { all: '1' }] : [name, {}];
}

function conflictResult(kind: string, subject: string, { id, command, kind: other }: Job) {
  const stderr =
    `cannot ${kind} ${subject}: task ${id} (${command}) is queued and would ${other} it; ` +
    'stop that task first';
  return { code: 1, stdout: '', stderr };
}

/** Code while the task has not ended, as iStore's task log has it. */
const UNDER_WAY = 206;
const LOG_TAIL_BYTES = 64 * 1024;

async function newestTask({ queue, logs }: StoreTools): Promise<TaskResult> {
  const job = queue.newest(PACKAGE_LANE);
  if (job === undefined) return { code: 0, stdout: '', stderr: '' };
  const size = (await logs.size(job.id)) ?? 0;
  const tail = await logs.read(job.id, Math.max(0, size - LOG_TAIL_BYTES), LOG_TAIL_BYTES);
  return {
    code: isEnded(job.state) ? (job.exitCode ?? 0) : UNDER_WAY,
    stdout: tail.toString('utf8'),
    stderr: job.error ?? '',
    task_id: job.id,
  };
}
