import { readRow } from './package-index.ts';
import { indexOf, installedBytesOf, type InstalledState, type View } from './view.ts';
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
  is_system?: boolean;
  is_of_firmware?: true;
  description: string;
  section?: string;
  tags: readonly string[];
  download_bytes?: number;
  /** Of an installed app what its removal frees. */
  installed_bytes?: number;
  feed?: string;
  has_icon: boolean;
  time?: number;
  broken?: true;
  /** Of an installed application of LuCI: the path of its page below LuCI. */
  entry?: string;
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
    is_upgradable: installed?.isUpgradable ?? false,
    ...(installed && stateOf(installed)),
    description: found.description,
    tags: found.tags,
    ...withoutEmpty({
      section: found.section,
      download_bytes: found.downloadBytes,
      installed_bytes: installedBytesOf(view, id),
      feed: found.feed,
    }),
    has_icon: view.icons.has(found.name),
    ...withoutEmpty({
      time: installed?.time || found.time,
      entry: found.isLuciApp && view.menu.get(found.name)?.path,
    }),
  };
}

function stateOf({
  version,
  isAuto,
  isHeld,
  isSystem,
  isOfFirmware,
  isBroken,
}: InstalledState): Pick<
  Item,
  'installed_version' | 'is_auto' | 'is_held' | 'is_system' | 'is_of_firmware' | 'broken'
> {
  return {
    installed_version: version,
    ...{ is_auto: isAuto, is_held: isHeld, is_system: isSystem },
    ...(isOfFirmware && { is_of_firmware: true as const }),
    ...(isBroken && { broken: true as const }),
  };
}
