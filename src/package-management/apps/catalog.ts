import { mkdir } from 'node:fs/promises';
import { createSequence } from '../../device/concurrency-limit.ts';
import { reasonOf } from '../../errors.ts';
import { isPresent, type PackageDatabase } from '../database.ts';
import type { PackageManager } from '../manager.ts';
import { withTag } from '../../http/etag.ts';
import type { Log } from '../../log.ts';
import {
  appItem,
  createMetaReader,
  type AppItem,
  type AppMeta,
  type MetaReader,
} from './app-meta.ts';
import { metaPackageOf, type PackageName } from '../names.ts';
import { createChangeThrottle } from './change-throttle.ts';

/**
 * What is installed, ready in memory. Invariants:
 *  - answers are made when something changed, not when somebody asks;
 *  - only the meta files that changed are read again;
 *  - a build that began before a change never replaces one that began after it;
 *  - callers that come before a build begins share it;
 *  - after a build that failed the last good one is the answer, and each who asks tries again.
 */
export type Catalog = ReturnType<typeof createCatalog>;

/** A JSON body and its entity tag, both made once for each change of what is installed. */
type PreparedAnswer = ReturnType<typeof withTag<Uint8Array<ArrayBuffer>>>;

export interface CatalogSnapshot {
  database: PackageDatabase;
  /** The installed apps; one whose meta file cannot be read has no `meta`. */
  apps: ReadonlyMap<string, { meta: AppMeta | undefined }>;
}

export type { AppMeta };

interface View extends CatalogSnapshot {
  apps: Map<PackageName, { item: AppItem; meta: AppMeta | undefined }>;
  answer: PreparedAnswer;
}

/** If the system has no watches left, the files are looked at this often instead. */
const POLL_MS = 1000;

/** @param afterChange called at the start and when somebody changed what is watched */
export function createCatalog(options: {
  manager: PackageManager;
  log: Log;
  afterChange?: () => Promise<void>;
}) {
  const { manager, log, afterChange = () => Promise.resolve() } = options;
  const metas = createMetaReader(manager.metaFolders, log);
  let view: Promise<View> | undefined;
  let stopWatching: () => Promise<void> = () => Promise.resolve();

  /** The last build failed. The next request builds again: no change may come to cause it. */
  let hasFailed = false;
  /** A build that waits to begin: callers share it, since it will see all changes up to then. */
  let coming: Promise<void> | undefined;
  const inTurn = createSequence();
  const build = async (): Promise<void> => {
    const next = inTurn(() => {
      coming = undefined;
      return buildView(manager, metas);
    });
    view ??= next;
    await next.then(
      () => {
        view = next;
        hasFailed = false;
      },
      (error: unknown) => {
        log.error({ reason: reasonOf(error) }, 'package database not read');
        if (view === next) view = undefined;
        hasFailed = true;
      },
    );
  };
  const refresh = (): Promise<void> => (coming ??= build());
  const current = async (): Promise<View> => {
    if (view === undefined || hasFailed) await refresh();
    return view ?? buildView(manager, metas);
  };

  return {
    /** The list of installed apps, ready to be sent. */
    installed: async (): Promise<PreparedAnswer> => (await current()).answer,
    status: async (name: PackageName) => statusOf(await current(), name),
    meta: async (name: PackageName): Promise<AppMeta | undefined> =>
      (await current()).apps.get(name)?.meta,
    /** The installed apps with what their meta files say. */
    apps: async (): Promise<{ name: PackageName; meta: AppMeta | undefined }[]> =>
      [...(await current()).apps].map(([name, { meta }]) => ({ name, meta })),
    /** What is installed, and what meta files of apps say; another object after a change. */
    snapshot: (): Promise<CatalogSnapshot> => current(),
    /** Takes in what changed until now. */
    refresh,
    /** Begins to watch for changes by others. */
    watch: async (): Promise<void> => {
      const onChange = async (): Promise<void> => {
        await refresh();
        await afterChange().catch((error: unknown) =>
          log.warn({ reason: reasonOf(error) }, 'package database not copied'),
        );
      };
      const folders = [...manager.metaFolders, ...manager.watchedFolders];
      stopWatching = await watchFolders(folders, { onChange, log });
      await onChange();
    },
    close: (): Promise<void> => stopWatching(),
  };
}

function statusOf({ apps, database }: View, name: PackageName) {
  const app = apps.get(name);
  if (app !== undefined) return { ...app.item, installed: true };
  const entry = database.get(name);
  return isPresent(entry)
    ? { name, version: entry.version, installed: true }
    : { installed: false };
}

async function buildView(manager: PackageManager, metas: MetaReader): Promise<View> {
  const database = await manager.installed();
  const apps: View['apps'] = new Map();
  for (const [name, meta] of await metas()) {
    const entry = database.get(metaPackageOf(name));
    if (isPresent(entry)) apps.set(name, { item: appItem(name, meta, entry.installedAt), meta });
  }
  const body = new TextEncoder().encode(JSON.stringify([...apps.values()].map(({ item }) => item)));
  return { database, apps, answer: withTag(body) };
}

/** Loaded with the first watch, since the daemon can answer before it watches. */
async function watchFolders(
  folders: string[],
  { onChange, log }: { onChange: () => Promise<void>; log: Log },
): Promise<() => Promise<void>> {
  const { watch } = await import('chokidar');
  for (const folder of folders) await mkdir(folder, { recursive: true }).catch(() => undefined);
  const throttle = createChangeThrottle(onChange);
  let poll: NodeJS.Timeout | undefined;
  const watcher = watch(folders, { depth: 0, ignoreInitial: true, persistent: true });
  watcher.on('all', throttle.hint);
  watcher.on('error', (error) => {
    const what = 'cannot watch the package database: looking at it every second instead';
    log.warn({ reason: reasonOf(error) }, what);
    poll ??= setInterval(() => void onChange(), POLL_MS);
  });
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve);
    // The watcher does not get ready if it could not read a folder.
    watcher.once('error', () => resolve());
  });
  return async () => {
    throttle.close();
    clearInterval(poll);
    await watcher.close();
  };
}
