import { join } from 'node:path';
import { parseJson } from '../../../device/durable-file.ts';
import { readSmallBytes } from '../../../device/owner-file.ts';
import { luciSubjectOf } from '../../../package-management/names.ts';

/** Where an application of LuCI is in LuCI's menu. */
export interface MenuEntry {
  /** The application as LuCI's menu calls it; empty if it has no word for it. */
  title: string;
  /** The page's path below LuCI, such as `admin/services/transmission`. */
  path: string;
}

const MENU_FOLDER = '/usr/share/luci/menu.d';
/** Menus of LuCI before 19.07's menu files, and of many applications of others. */
const CONTROLLER_FOLDER = '/usr/lib/lua/luci/controller';
const MOST_BYTES = 256 * 1024;

/**
 * The first page that an installed application puts into LuCI's menu: the shortest path that has a
 * title, and is no menu of several applications.
 * @param name of the package
 * @param files of the package, absolute on the device; asked for if none has the usual name
 * @returns undefined if it has no page
 */
export async function readMenuEntry(
  root: string,
  name: string,
  files: () => Promise<readonly string[]>,
): Promise<MenuEntry | undefined> {
  const read = async (path: string): Promise<string | undefined> =>
    (await readSmallBytes(join(root, path), MOST_BYTES))?.toString();
  const usual = await read(`${MENU_FOLDER}/${name}.json`);
  if (usual !== undefined) return best(name, entriesInMenu(usual));
  const others = (await files()).filter(
    (path) =>
      (path.startsWith(`${MENU_FOLDER}/`) && path.endsWith('.json')) ||
      (path.startsWith(`${CONTROLLER_FOLDER}/`) && path.endsWith('.lua')),
  );
  for (const path of others.slice(0, MOST_FILES)) {
    const text = (await read(path)) ?? '';
    const isMenu = path.endsWith('.json');
    const found = best(name, isMenu ? entriesInMenu(text) : entriesInController(text));
    if (found !== undefined) return found;
  }
  return undefined;
}

const MOST_FILES = 10;

interface FoundEntry extends MenuEntry {
  /** Whether an entry has no page of its own, and leads to the first one below it. */
  isGroup: boolean;
}

/** A JSON object of nodes by path (https://github.com/openwrt/luci/wiki/JsonMenu). */
function entriesInMenu(json: string): FoundEntry[] {
  const nodes = parseJson(json);
  // A menu file that LuCI cannot read either: there is no page.
  if (!isObject(nodes)) return [];
  return Object.entries(nodes).flatMap(([path, node]) => {
    const { title, action } = isObject(node) ? node : {};
    if (typeof title !== 'string' || !isObject(action) || !isPath(path)) return [];
    return [{ title, path, isGroup: action.type === 'firstchild' }];
  });
}

/** `entry({"admin", "services", "x"}, …, _("X"), 60)`. */
const ENTRY = /\bentry\(\s*\{([^}]*)\}\s*,([^\n]*)/g;

function entriesInController(lua: string): FoundEntry[] {
  return [...lua.matchAll(ENTRY)].flatMap(([, segments = '', rest = '']) => {
    const path = [...segments.matchAll(/["']([^"']*)["']/g)].map(([, each]) => each).join('/');
    const title = /\b_\(\s*["']([^"']*)["']/.exec(rest)?.[1];
    const isGroup = /^\s*firstchild\(/.test(rest);
    return title !== undefined && isPath(path) ? [{ title, path, isGroup }] : [];
  });
}

function best(name: string, entries: readonly FoundEntry[]): MenuEntry | undefined {
  const [first] = [...entries].sort((a, b) => depthOf(a) - depthOf(b));
  const found = first && (onlyOneIn(first, name, entries) ?? first);
  return found && { title: found.title.trim().slice(0, LONGEST_TITLE), path: found.path };
}

const depthOf = ({ path }: MenuEntry): number => path.split('/').length;

/**
 * Each application in a menu of LuCI that others may be in, too, such as `admin/nas`, makes that
 * menu as well: its own entry is the only one there.
 */
function onlyOneIn(
  menu: FoundEntry,
  name: string,
  entries: readonly FoundEntry[],
): FoundEntry | undefined {
  const isOwn = menu.path === `admin/${luciSubjectOf(name) ?? ''}`;
  if (!menu.isGroup || depthOf(menu) !== 2 || isOwn) return undefined;
  const [one, ...more] = entries.filter(
    (entry) => entry.path.startsWith(`${menu.path}/`) && depthOf(entry) === 3,
  );
  return more.every(({ path }) => path === one?.path) ? one : undefined;
}

const LONGEST_TITLE = 48;
/** A path that is one: what comes of it is an address. */
const PATH = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;

function isPath(path: string): boolean {
  return path.length <= 200 && PATH.test(path);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
