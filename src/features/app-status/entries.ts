import * as v from 'valibot';
import { createConcurrencyLimit } from '../../device/concurrency-limit.ts';
import type { AppFiles } from './app-files.ts';
import type { Catalog } from '../../package-management/apps/catalog.ts';
import { isPackageName, type PackageName } from '../../package-management/names.ts';
import { HOST_PATTERN } from '../../http/host-patterns.ts';
import { uciName } from '../../http/parameter-schemas.ts';
import type { RunResult } from '../../device/command.ts';
import { parseJson } from '../../device/durable-file.ts';

export type Entries = ReturnType<typeof createEntries>;

/**
 * The name under which a browser reaches the device, as `location.hostname` has it, without port: a
 * DNS name in ASCII (an international one in its `xn--` form), an IPv4 address, or an IPv6 address
 * in brackets without zone, which would mean something on the client alone.
 */
export const hostName = v.pipe(
  v.string(),
  v.maxLength(253, 'at most 253 characters are allowed'),
  v.regex(
    new RegExp(`^${HOST_PATTERN}$`),
    'a DNS name, an IPv4 address, or an IPv6 address in brackets is expected, without port',
  ),
  v.toLowerCase(),
  v.brand('Hostname'),
);
type Hostname = v.InferOutput<typeof hostName>;

interface EntryRequest {
  /** undefined: every installed app whose meta flags hold `entrysh`. */
  apps: readonly PackageName[] | undefined;
  hostname: Hostname;
  /** Whether a status that is kept will not do. */
  isForced: boolean;
}

/** How the container of an app is, as the engine has it. */
export type RunState = Readonly<
  Pick<EntryStatus, 'running' | 'docker'> & { deployed?: boolean; web?: string }
>;

export interface EntryOptions {
  files: AppFiles;
  catalog: Pick<Catalog, 'apps' | 'meta' | 'status'>;
  /** The state of containers, for container apps that have no entry script. */
  runStates: () => Promise<ReadonlyMap<string, RunState>>;
  /** Ends the scripts that run when the daemon stops. */
  stopping: AbortSignal;
}

const ENTRY_FLAG = 'entrysh';
/** Of one script. */
const LIMITS = { timeoutMs: 10_000, maxBytes: 256 * 1024 };
const MOST_SCRIPTS = 8;
/** Far more than a device has apps: what asks for more is not its owner. */
const MOST_WAITING = 1000;
const BUSY = `cannot ask for the state of apps: ${MOST_WAITING} questions wait already`;

/**
 * The run state and addresses of apps, asked from their own scripts. Invariants:
 *  - of one app, host name and version one script runs at a time: whoever asks meanwhile gets what
 *    that one says;
 *  - a status is given again only while the app's configuration, scripts and installed version are
 *    those it was asked under, for 30 s at most; one that failed is never given again;
 *  - a script has 10 s and 256 KiB, and nothing that it started is left when it is over;
 *  - at most eight scripts run at a time, whoever asks.
 */
export function createEntries({ files, catalog, stopping, runStates }: EntryOptions) {
  const kept = createStatusCache();
  const running = new Map<string, Promise<EntryResult>>();
  const limited = createConcurrencyLimit({
    most: MOST_SCRIPTS,
    mostWaiting: MOST_WAITING,
    busy: BUSY,
  });

  const ask = async (app: PackageName, hostname: Hostname, version: string) => {
    const [askedAt, output] = await limited(async () => [
      performance.now(),
      await files.runEntryScript(app, hostname, { ...LIMITS, signal: stopping }),
    ]);
    const result = readEntryStatus(app, output);
    if ('status' in result) {
      kept.put(`${app} ${hostname}`, { version, status: result.status, askedAt });
    }
    return result;
  };

  const one = async (
    app: PackageName,
    { hostname, isForced }: EntryRequest,
  ): Promise<EntryResult> => {
    const version = await versionOf({ files, catalog }, app);
    if (version === undefined) {
      const state = (await runStates()).get(app);
      if (state !== undefined) return { status: { ...state, app } };
      const msg = `cannot tell the status of ${app}: entrysh of this package not found`;
      return { error: { app, code: 404, msg } };
    }
    const known = isForced ? undefined : kept.get(`${app} ${hostname}`, version);
    if (known !== undefined) return { status: known };
    const key = `${app} ${hostname} ${version}`;
    const asked =
      running.get(key) ?? ask(app, hostname, version).finally(() => running.delete(key));
    running.set(key, asked);
    return asked;
  };

  const installedApps = async (): Promise<PackageName[]> => {
    const states = await runStates();
    const apps = await catalog.apps();
    const own = apps.filter(({ name, meta }) => hasEntry(meta) || states.has(name));
    return own.map(({ name }) => name);
  };

  return async (request: EntryRequest) => {
    const apps = request.apps ?? (await installedApps());
    const results = await Promise.all([...new Set(apps)].map((app) => one(app, request)));
    return {
      status: results.flatMap((result) => ('status' in result ? [result.status] : [])),
      errors: results.flatMap((result) => ('error' in result ? [result.error] : [])),
    };
  };
}

function hasEntry(meta: { flags?: string[] | undefined } | undefined): boolean {
  return meta?.flags?.includes(ENTRY_FLAG) === true;
}

/** What a status depends on, as one text; undefined if the app has no entry to ask. */
async function versionOf(
  { files, catalog }: Pick<EntryOptions, 'files' | 'catalog'>,
  app: PackageName,
): Promise<string | undefined> {
  const meta = await catalog.meta(app);
  if (meta === undefined || !hasEntry(meta)) return undefined;
  const scripts = await files.scriptVersion(app);
  if (scripts === undefined) return undefined;
  const config = v.is(uciName, meta.uci) ? await files.configVersion(meta.uci) : undefined;
  const names = [app, ...(meta.depends ?? []).filter(isPackageName)];
  const statuses = await Promise.all(names.map((name) => catalog.status(name)));
  const versions = statuses.map((status) =>
    'version' in status ? [status.version, 'time' in status ? status.time : 0] : [],
  );
  return JSON.stringify([scripts, config, versions]);
}

const KEPT_MS = 30_000;
/** Characters of all that is kept, so that many host names fill no memory. */
const MOST_CHARACTERS = 2 * 1024 ** 2;

interface KeptStatus {
  version: string;
  status: EntryStatus;
  /** When the entry script began (`performance.now()`). */
  askedAt: number;
}

/**
 * Statuses that may be given again: of each name only the newest, and that under the version that
 * it was asked under. What is too old, or too much, goes, the oldest first.
 */
function createStatusCache() {
  const entries = new Map<string, KeptStatus & { size: number }>();
  let total = 0;
  const remove = (name: string): void => {
    total -= entries.get(name)?.size ?? 0;
    entries.delete(name);
  };
  const clean = (): void => {
    for (const [name, { askedAt }] of entries) {
      if (askedAt + KEPT_MS <= performance.now() || total > MOST_CHARACTERS) remove(name);
    }
  };
  return {
    get: (name: string, version: string): EntryStatus | undefined => {
      clean();
      const entry = entries.get(name);
      return entry?.version === version ? entry.status : undefined;
    },
    put: (name: string, entry: KeptStatus): void => {
      remove(name);
      const size = JSON.stringify(entry.status).length + entry.version.length + name.length;
      entries.set(name, { ...entry, size });
      total += size;
      clean();
    },
  };
}

/** What an entry script prints: a JSON object; other keys, which differ, pass through. */
const scriptOutput = v.looseObject({
  running: v.boolean(),
  docker: v.optional(v.boolean(), false),
  deployed: v.optional(v.boolean()),
  web: v.optional(v.string()),
  href: v.optional(v.string()),
});

type EntryStatus = v.InferOutput<typeof scriptOutput> & { app: string };

/** Why an app has no status: 404 if it has no entry script to ask, 500 if that failed. */
type EntryResult =
  | { status: EntryStatus }
  | { error: { app: string; code: 404 | 500; msg: string } };

/**
 * Judges what a script did. Its output may hold secrets (an RPC token, a password), so none of it
 * goes into the message.
 */
function readEntryStatus(app: string, result: RunResult): EntryResult {
  const failed = (why: string): EntryResult => ({
    error: { app, code: 500, msg: `cannot tell the status of ${app}: its entry script ${why}` },
  });
  if (result.cutShortBy === 'time') return failed(`took longer than ${LIMITS.timeoutMs / 1000} s`);
  if (result.cutShortBy === 'output') {
    return failed(`printed more than ${LIMITS.maxBytes / 1024} KiB`);
  }
  if (result.cutShortBy === 'stop') return failed('was ended: the daemon is stopping');
  if (result.exitCode === undefined) return failed('could not be run');
  if (result.exitCode !== 0) return failed(`ended with exit code ${result.exitCode}`);
  const parsed = v.safeParse(scriptOutput, parseJson(result.stdout));
  return parsed.success ? { status: { ...parsed.output, app } } : failed('printed no status');
}
