import type { PackageTools } from '../../package-management/package-tools.ts';
import { createIndexBuilder, type PackageIndex } from './package-index.ts';
import { rowIn } from './row.ts';
import { buildView, type View, type ViewSources } from './store-view.ts';

interface CurrentView {
  view: View;
  /** Why nothing is known of what the feeds offer; undefined if all is well. */
  fault: Error | undefined;
}

export interface ViewsOptions extends Omit<PackageTools, 'containers'> {
  /** Where an installed application of LuCI is in LuCI's menu. */
  menuEntry: ViewSources['menuEntry'];
  icons: { version: () => Promise<string>; read: () => Promise<ReadonlySet<string>> };
  /** Gives memory back. */
  release: () => void;
  /** How long a list that nobody asks for is kept; default 60 seconds. */
  quietMs?: number;
}

const QUIET_MS = 60_000;
/**
 * After the last answer. V8 shrinks its nursery, 2 MB after a list was read, only with a collection
 * after five seconds in which little was allocated.
 */
const REST_MS = 7000;

interface Offered {
  version: string;
  index: PackageIndex;
  fault?: Error;
}

interface Built extends CurrentView {
  /** What the view was made from: it is made anew once one of these objects is another one. */
  from: readonly unknown[];
}

/**
 * The list of everything, made when somebody asks and dropped when nobody has for a while.
 * Invariants:
 *  - whoever asks gets a view that was checked against lists and device after that;
 *  - one build at a time; those who ask meanwhile share the next check (group commit);
 *  - the lists are read again only if they changed: an installation leaves what was read of them;
 *  - the timer exists only while something is kept;
 *  - what answers or the end of the list leave to the garbage collector is given back.
 */
export function createViews(options: ViewsOptions) {
  const { manager, catalog, noUpgrades, icons, release, quietMs = QUIET_MS } = options;
  let offered: Offered | undefined;
  let built: Built | undefined;
  let running: Promise<CurrentView> | undefined;
  let next: Promise<CurrentView> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let releasing: NodeJS.Timeout | undefined;

  const drop = (): void => {
    clearTimeout(timer);
    clearTimeout(releasing);
    [offered, built, timer] = [undefined, undefined, undefined];
  };
  const dropUnused = (): void => {
    drop();
    release();
  };
  /** No list is dropped under a check, and what it has read goes later also if it fails. */
  const check = async (): Promise<CurrentView> => {
    clearTimeout(timer);
    clearTimeout(releasing);
    try {
      return await renew();
    } finally {
      timer = setTimeout(dropUnused, quietMs).unref();
      releasing = setTimeout(release, REST_MS).unref();
    }
  };
  const renew = async (): Promise<CurrentView> => {
    const version = await manager.listing.version();
    if (offered?.version !== version || offered.fault !== undefined) {
      // The old and the new list are not in memory at once.
      drop();
      offered = { version, ...(await readOffered(manager)) };
    }
    const snapshot = await catalog.snapshot();
    const without = [...(await noUpgrades.read())].join('\n');
    const from = [offered, snapshot, await icons.version(), without];
    const isSame = from.every((each, position) => each === built?.from[position]);
    if (built === undefined || !isSame) {
      const { index, fault } = offered;
      const names = await icons.read();
      const view = await buildView({ ...options, offered: index, snapshot, icons: names });
      built = { view, from, fault };
    }
    return built;
  };
  const begin = (): Promise<CurrentView> =>
    check().finally(() => {
      running = next;
      next = undefined;
    });

  return {
    current: (): Promise<CurrentView> => {
      if (running === undefined) return (running = begin());
      next ??= running.then(begin, begin);
      return next;
    },
    close: drop,
  };
}

/** OpenWrt's feeds have some ten thousand. */
const EXPECTED_PACKAGES = 10_000;
/** Where reading stops in lists without end, or that repeat a package over and over. */
const MOST_PACKAGES = 60_000;

/** A manager that cannot say what the feeds offer still knows what is installed. */
async function readOffered(manager: ViewsOptions['manager']): Promise<Omit<Offered, 'version'>> {
  const { listing, compareVersions } = manager;
  const builder = createIndexBuilder(compareVersions, EXPECTED_PACKAGES);
  let count = 0;
  try {
    await listing.summarize((offer) => {
      builder.add(rowIn(offer, offer.feed));
      count += 1;
      return count < MOST_PACKAGES;
    });
    return { index: builder.finish() };
  } catch (error) {
    const fault = error instanceof Error ? error : new Error(String(error));
    return { index: createIndexBuilder(compareVersions, 0).finish(), fault };
  }
}
