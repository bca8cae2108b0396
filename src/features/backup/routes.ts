import type { IncomingMessage } from 'node:http';
import { lstat, rm, writeFile } from 'node:fs/promises';
import * as v from 'valibot';
import { bounded } from '../../device/byte-reader.ts';
import { piecesOf } from '../../device/owner-file.ts';
import { DepotError } from '../../errors.ts';
import { checkToken } from '../../http/guard.ts';
import { receiveFile } from '../../http/multipart.ts';
import { devicePath, flag, isOn } from '../../http/parameter-schemas.ts';
import { json } from '../../http/respond.ts';
import { get, post, postTask, postUpload, type ApiRequest, type Route } from '../../http/route.ts';
import { submissionResult } from '../../http/task-result.ts';
import type { FeatureContext } from '../feature.ts';
import { setId } from './manifest.ts';
import { readSet } from './read-set.ts';
import type { RestoreDue } from './restore-due.ts';
import { RESERVE_BYTES, type Sets, type StoredSet } from './sets.ts';

export interface BackupRouteTools extends Pick<FeatureContext, 'submit' | 'setOption'> {
  sets: Sets;
  due: Pick<RestoreDue, 'forget'>;
  /** Largest file that is accepted. */
  limitBytes: number;
  afterUpgrade: () => boolean;
}

/** Sets of packages and configuration, and bringing them back. */
export function backupRoutes(tools: BackupRouteTools): Route[] {
  const { sets, due, submit, setOption } = tools;
  return [
    postTask({
      path: 'admin/store/backup',
      summary: 'Back up what the owner asked for and the configuration',
      params: { with_packages: v.optional(flag), path: v.optional(devicePath) },
      handle: async ({ params: { with_packages: isWhole, path } }) => {
        const params = {
          ...(isOn(isWhole) ? { with_packages: '1' } : {}),
          ...(path === undefined ? {} : { path }),
        };
        return json(submissionResult(await submit('backup', '', params)));
      },
    }),
    get({
      path: 'admin/store/backups',
      summary: 'The backups, newest first',
      handle: async () =>
        json({ backups: (await sets.all()).map(shown), after_upgrade: tools.afterUpgrade() }),
    }),
    {
      // A backup holds passwords.
      ...get({
        path: 'admin/store/backup_file',
        summary: 'A backup as a file: tar.gz',
        params: { id: setId },
        handle: ({ params: { id } }) => sendSet(sets, id),
      }),
      needsWrite: true,
    },
    postUpload({
      path: 'admin/store/add_backup',
      summary: 'Add a backup from a file, once all of it is checked',
      handle: async (request) => json({ code: 200, id: await receiveSet(tools, request) }),
    }),
    post({
      path: 'admin/store/remove_backup',
      summary: 'Remove a backup',
      params: { id: setId },
      handle: async ({ params: { id } }) => {
        // One whose file is gone, too, does not come back any more.
        await due.forget(id);
        await sets.remove(id);
        return json({ code: 0 });
      },
    }),
    post({
      path: 'admin/store/set_backup',
      summary: 'Whether everything comes back by itself after a firmware upgrade',
      params: { after_upgrade: flag },
      handle: async ({ params: { after_upgrade: wanted } }) => {
        const place = { section: 'backup', option: 'after_upgrade' };
        await setOption(place, isOn(wanted) ? '1' : '0');
        return json({ code: 0 });
      },
    }),
    postTask({
      path: 'admin/store/restore',
      summary: 'Bring back what a backup holds',
      params: { backup: setId, as: v.optional(v.picklist(['new'], 'new is expected')) },
      handle: async ({ params: { backup, as } }) => {
        const { manifest } = await sets.find(backup);
        const params = { backup, ...(as === undefined ? {} : { as }) };
        return json(submissionResult(await submit('restore', subjectOf(manifest.made_at), params)));
      },
    }),
  ];
}

/** What people read of it. */
export function subjectOf(madeAt: number): string {
  return `the backup of ${new Date(madeAt * 1000).toISOString().slice(0, 16).replace('T', ' ')}`;
}

function shown({ manifest, bytes }: StoredSet): object {
  const { id, made_at: madeAt, reason, release, architecture } = manifest;
  return {
    id,
    made_at: madeAt,
    bytes,
    reason,
    release,
    architecture,
    package_manager: manifest.package_manager,
    packages: manifest.packages.length,
    has_packages: manifest.package_files.length > 0,
  };
}

async function sendSet(sets: Sets, id: string): Promise<Response> {
  const { file, manifest } = await sets.find(id);
  const day = new Date(manifest.made_at * 1000).toISOString().slice(0, 10);
  return download(file, `depotd-backup-${day}-${id.slice(0, 8)}.tar.gz`);
}

/** A set as a file that a browser saves; it is opened when that is read, which HEAD does not. */
export async function download(file: string, name: string): Promise<Response> {
  const { size } = await lstat(file);
  return new Response(ReadableStream.from(piecesOf(file)), {
    headers: {
      'content-type': 'application/gzip',
      'content-length': String(size),
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  });
}

/** Receives a set that is sent. @returns its id */
async function receiveSet(
  { sets, limitBytes }: BackupRouteTools,
  { context, session }: ApiRequest<object>,
): Promise<string> {
  const { incoming } = context.env as { incoming: IncomingMessage };
  const room = Math.min(limitBytes, (await sets.freeBytes()) - RESERVE_BYTES);
  if (Number(incoming.headers['content-length'] ?? 0) > room) throw tooLarge(room);
  const { id } = await receiveFile(incoming, {
    receive: ({ content }) => receiveInto(sets, content, room),
    fields: { token: (value) => checkToken([value], session) },
    // A set that was there before is not what came.
    discard: async (received) => (received.isNew ? sets.remove(received.id) : undefined),
  });
  return id;
}

export async function receiveInto(sets: Sets, content: AsyncIterable<Uint8Array>, room: number) {
  const received = await sets.receive();
  try {
    const pieces = bounded(content, room, () => tooLarge(room));
    await writeFile(received, pieces, { flag: 'wx', mode: 0o600, flush: true });
    const { id } = await readSet(received);
    return { id, isNew: await sets.adopt(received, id) };
  } catch (error) {
    await rm(received, { force: true });
    throw error;
  }
}

function tooLarge(room: number): DepotError {
  const free = Math.max(0, room);
  return new DepotError('too_large', `cannot take the backup: there is room for ${free} bytes`);
}
