import { readRow } from './package-index.ts';
import { indexOf, type View } from './view.ts';
import { withoutEmpty } from './without-empty.ts';

/** An app or a package, as lists and details show it; a key that has nothing to say is left out. */
export interface Item {
  name: string;
  kind: 'app' | 'package';
  title: string;
  /** The best that feeds offer; the installed one if none does. */
  version: string;
  installed_version?: string;
  is_upgradable: boolean;
  is_auto?: boolean;
  is_held?: boolean;
  description: string;
  section?: string;
  tags: readonly string[];
  download_bytes?: number;
  installed_bytes?: number;
  feed?: string;
  has_icon: boolean;
  time?: number;
  broken?: true;
}

export function itemOf(view: View, id: number): Item {
  const { index, row } = indexOf(view, id);
  const found = readRow(index, row);
  const installed = view.installed.get(id);
  return {
    name: found.name,
    kind: found.isApp ? 'app' : 'package',
    title: found.title || found.name,
    version: found.version,
    ...withoutEmpty({ installed_version: installed?.version }),
    is_upgradable: installed?.isUpgradable ?? false,
    ...withoutEmpty({ is_auto: installed?.isAuto, is_held: installed?.isHeld }),
    description: found.description,
    tags: found.tags,
    ...withoutEmpty({
      section: found.section,
      download_bytes: found.downloadBytes,
      installed_bytes: found.installedBytes,
      feed: found.feed,
    }),
    has_icon: view.icons.has(found.name),
    ...withoutEmpty({ time: installed?.time || found.time }),
    ...(installed?.isBroken === true && { broken: true as const }),
  };
}
