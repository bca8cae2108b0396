import { stat } from 'node:fs/promises';
import { releaseDropped } from '../../runtime/memory.ts';
import type { FeatureContext } from '../feature.ts';
import { ICON_FOLDER, readIconNames } from '../icons/icon-names.ts';
import type { PackageTools } from '../packages/package-tools.ts';
import { createPages, type Page } from './available.ts';
import type { Query } from './query.ts';
import { createDetails, type Details } from './details.ts';
import { createViews } from './views.ts';

/** What there is to install and what is installed. */
export interface Store {
  /** @throws DepotError unavailable if the package manager cannot say what feeds offer */
  page: (query: Query, paging: { page: number; perPage: number }) => Promise<Page>;
  /**
   * @param kind undefined for the app of that name, or the package if there is no such app
   * @returns undefined if there is neither
   */
  details: (name: string, kind?: 'app' | 'package') => Promise<Details | undefined>;
  close: () => void;
}

export type StoreContext = Pick<FeatureContext, 'paths' | 'queue'>;

export function openStore({ paths, queue }: StoreContext, tools: PackageTools): Store {
  const folder = paths.onDevice(ICON_FOLDER);
  const views = createViews({
    ...tools,
    release: releaseDropped,
    icons: {
      version: async () => {
        const entry = await stat(folder).catch(() => undefined);
        return entry === undefined ? '' : `${entry.ino} ${entry.mtimeMs}`;
      },
      read: () => readIconNames(folder),
    },
  });
  const pageOf = createPages();
  const details = createDetails({ ...tools, queue, root: paths.root });
  return {
    page: async (query, paging) => {
      const { view, fault } = await views.current();
      // What is installed is known all the same.
      if (fault !== undefined && query.state !== 'installed') throw fault;
      return pageOf(view, query, paging);
    },
    details: async (name, kind) => details((await views.current()).view, name, kind),
    close: views.close,
  };
}
