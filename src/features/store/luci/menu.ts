import { join } from 'node:path';
import { parseJson } from '../../../device/durable-file.ts';
import { readSmallBytes } from '../../../device/owner-file.ts';

/** Where an application of LuCI is in LuCI's menu. */
export interface MenuEntry {
  /** As LuCI's menu calls it; empty if it has no word for it. */
  title: string;
  /** Its path below LuCI, such as `admin/services/transmission`. */
  path: string;
}

const MENU_FOLDER = '/usr/share/luci/menu.d';
/** Of LuCI before 19.07's menu files, and of many applications of others. */
const CONTROLLER_FOLDER = '/usr/lib/lua/luci/controller';
const MOST_BYTES = 256 * 1024;

/**
 * The first page that an installed application puts into LuCI's menu: the shortest path that has a
 * title.
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
  if (usual !== undefined) return entryInMenu(usual);
  const others = (await files()).filter(
    (path) =>
      (path.startsWith(`${MENU_FOLDER}/`) && path.endsWith('.json')) ||
      (path.startsWith(`${CONTROLLER_FOLDER}/`) && path.endsWith('.lua')),
  );
  for (const path of others.slice(0, MOST_FILES)) {
    const text = (await read(path)) ?? '';
    const found = path.endsWith('.json') ? entryInMenu(text) : entryInController(text);
    if (found !== undefined) return found;
  }
  return undefined;
}

const MOST_FILES = 10;

/** A JSON object of nodes by path (https://github.com/openwrt/luci/wiki/JsonMenu). */
function entryInMenu(json: string): MenuEntry | undefined {
  const nodes = parseJson(json);
  // A menu file that LuCI cannot read either: there is no page.
  if (!isObject(nodes)) return undefined;
  return best(
    Object.entries(nodes).flatMap(([path, node]) => {
      const { title, action } = isObject(node) ? node : {};
      if (typeof title !== 'string' || !isObject(action) || !isPath(path)) return [];
      return [{ title, path }];
    }),
  );
}

/** `entry({"admin", "services", "x"}, …, _("X"), 60)`. */
const ENTRY = /\bentry\(\s*\{([^}]*)\}\s*,([^\n]*)/g;

function entryInController(lua: string): MenuEntry | undefined {
  return best(
    [...lua.matchAll(ENTRY)].flatMap(([, segments = '', rest = '']) => {
      const path = [...segments.matchAll(/["']([^"']*)["']/g)].map(([, each]) => each).join('/');
      const title = /\b_\(\s*["']([^"']*)["']/.exec(rest)?.[1];
      return title !== undefined && isPath(path) ? [{ title, path }] : [];
    }),
  );
}

function best(entries: readonly MenuEntry[]): MenuEntry | undefined {
  const depth = ({ path }: MenuEntry): number => path.split('/').length;
  const [first] = [...entries].sort((a, b) => depth(a) - depth(b));
  return first && { title: first.title.trim().slice(0, LONGEST_TITLE), path: first.path };
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
