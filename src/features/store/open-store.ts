import { stat } from 'node:fs/promises';
import { UBUS_SOCKET } from '../../config/environment.ts';
import { releaseDropped } from '../../runtime/heap.ts';
import { DepotError } from '../../errors.ts';
import type { FeatureContext } from '../feature.ts';
import { ICON_FOLDER, readIconNames } from '../icons/icon-names.ts';
import { readListsState, type ListsState } from '../../package-management/failed-feeds.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { createPages, type Paging, type Query } from './available.ts';
import { readMenuEntry } from './luci/menu.ts';
import { readDetails, type DetailsOptions } from './details.ts';
import type { Details, Item, ItemPage } from './documentation.ts';
import { isRunning } from './running-services.ts';
import type { View } from './store-view.ts';
import { createViews } from './store-views.ts';

export type Store = ReturnType<typeof openStore>;

/** How long an answer serves further requests: many come at once when a list has changed. */
const LISTS_KEPT_MS = 500;

/** What there is to install and what is installed. */
export function openStore({ paths, queue }: FeatureContext, tools: PackageTools) {
  const folder = paths.onDevice(ICON_FOLDER);
  const filesOf = async (name: string): Promise<readonly string[]> =>
    (await tools.manager.listing.record(name))?.files ?? [];
  const views = createViews({
    ...tools,
    release: releaseDropped,
    menuEntry: (name) => readMenuEntry(paths.root, name, () => filesOf(name)),
    icons: {
      version: async () => {
        const entry = await stat(folder).catch(() => undefined);
        return entry === undefined ? '' : `${entry.ino} ${entry.mtimeMs}`;
      },
      read: () => readIconNames(folder),
    },
  });
  const pageOf = createPages();
  let known: { at: number; view: View; state: Promise<ListsState> } | undefined;
  const listsState = (view: View): Promise<ListsState> => {
    const at = performance.now();
    if (known?.view !== view || at - known.at > LISTS_KEPT_MS) {
      known = { at, view, state: readListsState(tools.manager.feeds) };
    }
    return known.state;
  };
  const sources: DetailsOptions = {
    ...{ ...tools, queue, root: paths.root },
    isRunning: (services) => isRunning(UBUS_SOCKET, services),
  };
  return {
    /** @throws DepotError unavailable if the package manager cannot say what feeds offer */
    page: async (query: Query, paging: Paging): Promise<ItemPage> => {
      const { view, fault } = await views.current();
      // What is installed is known all the same.
      if (fault !== undefined && query.state !== 'installed') throw fault;
      const { state, updatedAt, missing } = await listsState(view);
      const everyHours = tools.updateEveryHours();
      const lists = {
        state,
        ...(everyHours > 0 && { update_every_h: everyHours }),
        ...(updatedAt !== undefined && { updated_at: updatedAt }),
        ...(missing.length > 0 && { missing: missing.map(({ name }) => name) }),
      };
      return { ...pageOf(view, query, paging), lists };
    },
    /**
     * @param kind undefined for the app of that name, or the package if there is no such app
     * @throws DepotError not_found if there is neither
     */
    details: async (name: string, kind?: Item['kind']): Promise<Details> => {
      const { view } = await views.current();
      const found = await readDetails(sources, view, { name, kind });
      if (found !== undefined) return found;
      const { state } = await listsState(view);
      throw new DepotError(
        'not_found',
        state === 'missing'
          ? `cannot find ${name}: there are no package lists`
          : `cannot find ${name}: no feed offers it`,
      );
    },
    close: views.close,
  };
}
