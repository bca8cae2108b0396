import { join } from 'node:path';
import * as v from 'valibot';
import { readSmallFile } from '../../device/owner-file.ts';
import { DepotError, type Explanation } from '../../errors.ts';
import { isEnded } from '../../jobs/job.ts';
import { confirmSeconds, devicePath, flag, isOn } from '../../http/parameter-schemas.ts';
import { isOnRecord, packagesOf } from '../../package-management/choice.ts';
import { isPresent } from '../../package-management/database.ts';
import { packageName } from '../../package-management/names.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';
import { ADVICE } from '../../package-management/problem.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import type { FeatureContext } from '../feature.ts';
import { json, revalidated, type TaskResult } from '../../http/respond.ts';
import { panelUrl } from '../../http/panel-url.ts';
import { get, post, postTask, type ApiRequest, type Route } from '../../http/route.ts';
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
      handle: async () => json(await newestTask(tools)),
    }),
  ];
}

/** Done at once, and by no task. */
function holdRoutes(tools: StoreTools): Route[] {
  const params = { package: packageName };
  const done = (): Response => json({ code: 0 });
  return [
    post({
      path: 'admin/store/hold',
      summary: 'Hold an installed app or package at its version',
      params,
      handle: ({ params: { package: name } }) => setHold(tools, name, true).then(done),
    }),
    post({
      path: 'admin/store/release',
      summary: 'Let an app or package go that is held, so that feeds may upgrade it',
      params,
      handle: ({ params: { package: name } }) => setHold(tools, name, false).then(done),
    }),
  ];
}

/**
 * Holds a package at its version, or lets it go; of an app all of its packages, since an upgrade of
 * any would upgrade the app.
 * @throws DepotError not_found if it is not installed, conflict while a task changes packages
 */
async function setHold(tools: StoreTools, subject: string, isHeld: boolean): Promise<void> {
  const { manager, catalog, queue } = tools;
  const purpose = isHeld ? `hold ${subject}` : `release ${subject}`;
  const refused = (code: 'not_found' | 'conflict', why: string, explanation: Explanation): Error =>
    new DepotError(code, `cannot ${purpose}: ${why}`, { explanation });
  const database = await manager.installed();
  // What is held may be asked for and not be there.
  const isKnown = (name: string): boolean =>
    isHeld ? isPresent(database.get(name)) : isOnRecord(database, name);
  const known = (await packagesOf({ catalog }, subject)).filter(isKnown);
  if (known.length === 0) {
    const remedy = ADVICE.notInstalled;
    throw refused('not_found', 'it is not installed', { code: 'not_found', remedy });
  }
  const job = queue.all().find(({ lane, state }) => lane === PACKAGE_LANE && !isEnded(state));
  if (job !== undefined) {
    const remedy = 'Wait until the task has ended, then try again.';
    throw refused('conflict', `task ${job.id} changes packages`, { code: 'locked', remedy });
  }
  for (const name of known) await manager.setHold(name, { isHeld });
  await catalog.refresh();
}

function createSubmit({ submit }: Pick<StoreTools, 'submit'>) {
  return async (kind: string, subject: string, params: Record<string, string | undefined> = {}) => {
    const given = Object.fromEntries(
      Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const submission = await submit(kind, subject, given);
    if (!('conflict' in submission)) return json(submissionResult(submission));
    const { id, command, kind: other } = submission.conflict;
    const stderr =
      `cannot ${kind} ${subject}: task ${id} (${command}) is queued and would ${other} it; ` +
      'stop that task first';
    return json({ code: 1, stdout: '', stderr });
  };
}

/** Largest file of uhttpd's settings, which its owner edits by hand. */
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
}: Partial<Record<'package' | 'all', string | undefined>>): [string, Record<string, string>] {
  if ((name !== undefined) === isOn(all)) {
    const why = name === undefined ? 'it is missing' : 'it is given beside all=true';
    throw new DepotError('bad_request', `cannot use the parameter package: ${why}`);
  }
  return name === undefined ? ['', { all: '1' }] : [name, {}];
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
