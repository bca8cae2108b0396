import type { Item } from './documentation.ts';
import { readRow } from './package-index.ts';
import { indexOf, installedBytesOf, type InstalledState, type View } from './store-view.ts';

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
    tags: [...found.tags],
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

function stateOf(installed: InstalledState): Partial<Item> {
  return {
    installed_version: installed.version,
    is_auto: installed.isAuto,
    is_held: installed.isHeld,
    is_system: installed.isSystem,
    ...(installed.isOfFirmware && { is_of_firmware: true }),
    ...(installed.isBroken && { broken: true }),
    ...withoutEmpty({ description_en: installed.english }),
  };
}

type Said<Keys> = { [Key in keyof Keys]?: Exclude<Keys[Key], undefined> };

const EMPTY: readonly unknown[] = [undefined, '', 0];

/** Leaves out the keys that have nothing to say: undefined, empty texts and lists, 0. */
export function withoutEmpty<Keys extends object>(keys: Keys): Said<Keys> {
  const isSaid = (value: unknown): boolean =>
    Array.isArray(value) ? value.length > 0 : !EMPTY.includes(value);
  return Object.fromEntries(
    Object.entries(keys).filter(([, value]) => isSaid(value)),
  ) as Said<Keys>;
}
