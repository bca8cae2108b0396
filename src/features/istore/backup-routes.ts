import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import * as v from 'valibot';
import { bounded } from '../../device/byte-reader.ts';
import { createDiskAsking } from '../../device/disk/patience.ts';
import { freeBytesOf } from '../../device/disk/space.ts';
import { piecesOf } from '../../device/owner-file.ts';
import { openPrivateFolder } from '../../device/private-folder.ts';
import { DepotError, reasonOf } from '../../errors.ts';
import { checkToken } from '../../http/guard.ts';
import { receiveFile } from '../../http/multipart.ts';
import { devicePath } from '../../http/parameter-schemas.ts';
import { json } from '../../http/respond.ts';
import { get, post, postTask, postUpload, type ApiRequest, type Route } from '../../http/route.ts';
import { submissionResult } from '../../http/task-result.ts';
import { isEnded, newId } from '../../jobs/job.ts';
import { whenEnded } from '../../jobs/when-ended.ts';
import { readAppList } from './app-list.ts';
import type { FeatureContext } from '../feature.ts';
import type { IstoreSettings } from './istore-settings.ts';

/** The sets of depotd. */
export interface Backups {
  /** Newest first. */
  all: () => Promise<readonly { manifest: { id: string; reason: string }; file: string }[]>;
  /** Takes one in, once all of it is checked. @returns its id @throws DepotError bad_request */
  receive: (content: AsyncIterable<Uint8Array>) => Promise<string>;
  /** One as a file that a browser saves. */
  download: (file: string, name: string) => Promise<Response>;
}

export interface BackupRouteTools extends Pick<FeatureContext, 'submit' | 'queue' | 'paths'> {
  settings: IstoreSettings;
  backups: Backups;
  /** The meta packages of the installed apps. */
  appList: () => Promise<string[]>;
}

const LIST_PATH = '/etc/istore/app.list';
const FOLDER = 'local_backup_path';
const FILE_NAME = /^(?:depotd-backup-[0-9a-f]{32}|backup_istore_[0-9-]{1,40}\.backup)\.tar\.gz$/;
const MOST_BYTES = 256 * 1024 ** 2;
/** How long the page waits for a light backup. */
const LIGHT_MS = 60_000;

const folder = { path: devicePath, type: v.optional(v.picklist(['istore', 'overlay'])) };
const SYSTEM =
  'cannot back up or restore the whole system here: a backup has apps and configuration';

/** Looked at, disks that have gone would keep the threads that all files are read by. */
const answers = createDiskAsking();

/** iStore's backup routes, upon the sets of depotd. */
export function istoreBackupRoutes(tools: BackupRouteTools): Route[] {
  return [...lightRoutes(tools), ...localRoutes(tools)];
}

function said(msg: string): Response {
  return json({ code: 200, msg });
}

/** A file that is downloaded and sent. */
function lightRoutes(tools: BackupRouteTools): Route[] {
  const { backups, appList } = tools;
  return [
    get({
      path: 'admin/store/get_support_backup_features',
      summary: "iStore's page: the kinds of backup, as JSON in msg",
      handle: () => said(JSON.stringify(['light_backup', 'local_backup'])),
    }),
    post({
      path: 'admin/store/light_backup',
      summary: "iStore's page: back up, and answer when it is done",
      handle: async () => json(await lightBackup(tools)),
    }),
    {
      ...get({
        path: 'admin/store/get_light_backup_file',
        summary: "iStore's page: the newest backup that was asked for, as a file",
        handle: () => newestFile(backups),
      }),
      needsWrite: true,
    },
    {
      ...postUpload({
        path: 'admin/store/light_restore',
        summary: "iStore's page: bring back what a file names; depotd's own backups, too",
        handle: async (request) => json(await restoreSent(tools, request)),
      }),
      // `postUpload` makes the token optional; here it is needed, and in the query.
      needsToken: true,
    },
    get({
      path: 'admin/store/get_backup_app_list_file_path',
      summary: "iStore's page: where iStore keeps its list of apps",
      handle: () => said(LIST_PATH),
    }),
    get({
      path: 'admin/store/get_backup_app_list',
      summary: "iStore's page: the apps that a backup names, as JSON in msg",
      handle: async () => said(JSON.stringify(await appList())),
    }),
  ];
}

/** Files in a folder of the device. */
function localRoutes(tools: BackupRouteTools): Route[] {
  const { settings, submit } = tools;
  return [
    postTask({
      path: 'admin/store/local_backup',
      summary: "iStore's page: back up to a folder, packages too",
      params: folder,
      handle: onDisk(tools, async (path, target) => {
        // The page names one that is not there yet, in a folder that is.
        await mkdir(target, { mode: 0o700 }).catch(() => undefined);
        await settings.write(FOLDER, path);
        return submissionResult(await submit('backup', '', { path, with_packages: '1' }));
      }),
    }),
    postTask({
      path: 'admin/store/local_restore',
      summary: "iStore's page: bring back what a file on a disk names",
      params: folder,
      handle: onDisk(tools, (_, file) => restore(tools, file)),
    }),
    get({
      path: 'admin/store/get_available_backup_file_list',
      summary: "iStore's page: the backups in a folder, as JSON in msg",
      params: folder,
      handle: async ({ params: { path } }) => {
        const target = tools.paths.onDevice(path);
        const names = (await answers(target)) ? await readdir(target).catch(() => []) : [];
        return said(JSON.stringify(names.filter((name) => FILE_NAME.test(name)).sort()));
      },
    }),
    post({
      path: 'admin/store/set_local_backup_dir_path',
      summary: "iStore's page: keeps the folder for backups",
      params: { path: devicePath },
      handle: async ({ params: { path } }) => {
        await settings.write(FOLDER, path);
        return said('Success');
      },
    }),
    get({
      path: 'admin/store/get_local_backup_dir_path',
      summary: "iStore's page: the folder for backups",
      handle: async () => {
        const path = await settings.read(FOLDER);
        return path ? said(path) : json({ code: 500, msg: 'Path Unknown' });
      },
    }),
  ];
}

/** @param work gets the path as it was asked for, and where it is to be found */
function onDisk(
  { paths }: BackupRouteTools,
  work: (path: string, target: string) => Promise<object>,
) {
  return async ({
    params: { path, type },
  }: ApiRequest<{ path: string; type?: string | undefined }>) => {
    if (type === 'overlay') return json(failed(SYSTEM));
    const target = paths.onDevice(path);
    if (await answers(target)) return json(await work(path, target));
    return json(failed(`cannot look at ${path}: its disk does not answer`));
  };
}

function failed(stderr: string): { code: number; stdout: string; stderr: string } {
  return { code: 1, stdout: '', stderr };
}

async function lightBackup({ submit, queue }: BackupRouteTools) {
  const submission = await submit('backup', '', {});
  if ('conflict' in submission) return { code: 500, msg: submissionResult(submission).stderr };
  const { job } = submission;
  await whenEnded(job, queue, AbortSignal.timeout(LIGHT_MS));
  const { state, error } = queue.get(job.id) ?? job;
  if (!isEnded(state)) {
    return { code: 500, msg: 'cannot back up yet: other tasks are under way; the backup follows' };
  }
  return state === 'done'
    ? { code: 200, msg: 'backup success' }
    : { code: 500, msg: error ?? `cannot back up: the task is ${state}` };
}

async function newestFile({ all, download }: Backups): Promise<Response> {
  const found = (await all()).find(({ manifest }) => manifest.reason === 'asked');
  if (found === undefined) {
    throw new DepotError('not_found', 'cannot find a backup: make one first');
  }
  return download(found.file, `light-backup-${found.manifest.id}.tar.gz`);
}

async function restoreSent(tools: BackupRouteTools, { context, session }: ApiRequest<object>) {
  const { incoming } = context.env as { incoming: IncomingMessage };
  const name = `${newId()}.restore`;
  const file = join(tools.paths.uploadDir, name);
  await (await openPrivateFolder(tools.paths.uploadDir)).close();
  // What is sent lies in memory on OpenWrt, which others need, too.
  const room = Math.min(MOST_BYTES, (await freeBytesOf(tools.paths.uploadDir)) / 2);
  const tooLarge = () => new DepotError('too_large', 'cannot take the backup: it is too large');
  sentFiles.add(name);
  try {
    await receiveFile(incoming, {
      receive: ({ content }) =>
        writeFile(file, bounded(content, room, tooLarge), { flag: 'wx', mode: 0o600 }),
      fields: { token: (value) => checkToken([value], session) },
      discard: () => rm(file, { force: true }),
    });
    return await restore(tools, file);
  } finally {
    await rm(file, { force: true });
    sentFiles.delete(name);
  }
}

/** The names of those that are being taken: a request may come ahead of the sweep. */
const sentFiles = new Set<string>();

/** Removes the backups that a daemon that was killed had taken: they lie in memory. */
export async function sweepSentFiles(uploadDir: string): Promise<void> {
  for (const name of await readdir(uploadDir).catch(() => [])) {
    if (!/^[0-9a-f]{32}\.restore$/.test(name) || sentFiles.has(name)) continue;
    await rm(join(uploadDir, name), { force: true }).catch(() => undefined);
  }
}

/** What depotd's reader says of a foreign file; iStore's page is told the second in its place. */
const OF_DEPOTD = 'it is no backup of depotd';
const OF_BOTH = 'it is a backup neither of iStore nor of depotd';

/** A backup of iStore's names apps, which the feeds have; one of depotd's is brought back whole. */
async function restore({ submit, backups, appList }: BackupRouteTools, file: string) {
  try {
    const apps = await readAppList(file);
    if (apps === undefined) {
      const id = await backups.receive(piecesOf(file));
      return submissionResult(await submit('restore', id.slice(0, 8), { backup: id }));
    }
    const there = await appList();
    const missing = apps.filter((name) => !there.includes(name));
    let result: object = failed('cannot restore anything: each app that it names is installed');
    for (const name of missing) {
      result = submissionResult(await submit('install', name.replace(/^app-meta-/, ''), {}));
    }
    return result;
  } catch (error) {
    return failed(reasonOf(error).replace(OF_DEPOTD, OF_BOTH));
  }
}
