import { titleOf } from './words.js';

/** As many as the daemon says at once. */
const MOST = '200';
const LUCI = '/cgi-bin/luci/';

/**
 * What is known of apps beside the list in sight. Of the installed ones what they say of
 * themselves: the address at which each is opened. Of all that a list has shown: the title, which a
 * feed may word differently.
 */
export function createKnownApps({ api, onChange }) {
  let known = new Map();
  const titles = new Map();
  /** Pages of applications of LuCI. */
  const menu = new Map();
  let areAllAskedFor = false;
  const ofTasks = new Map();

  const learn = (items) => {
    for (const { name, title, entry } of items) {
      titles.set(name, title || name);
      if (entry === undefined) menu.delete(name);
      else menu.set(name, { entry: `${LUCI}${entry}` });
    }
  };
  const titleOfApp = (name) => known.get(name)?.title || (titles.get(name) ?? name);
  return {
    load: async (report) => {
      try {
        const apps = await api.get('admin/store/installed');
        known = new Map(apps.map((app) => [app.name, app]));
        onChange();
      } catch (error) {
        report(error);
      }
    },
    /** @param items of a list of the catalogue */
    learn,
    /** What people call it. */
    titleOf: titleOfApp,
    /** Once its app has said its own title, it stays, also when the app has gone. */
    titleOfTask: (task) => {
      const title = ofTasks.get(task.id) ?? titleOf(task, titleOfApp);
      if (known.get(task.package)?.title) ofTasks.set(task.id, title);
      return title;
    },
    /** Asks once for the titles of all apps if one of these has none. Without them names do. */
    learnTitles: async (names) => {
      if (areAllAskedFor || names.every((name) => known.has(name) || titles.has(name))) return;
      areAllAskedFor = true;
      try {
        const query = { kind: 'app', per_page: MOST };
        learn((await api.get('admin/store/available', query)).items);
        onChange();
      } catch {
        areAllAskedFor = false;
      }
    },
    /**
     * The address of an app's own page; undefined if it has none, and empty if it is the panel's
     * and the panel cannot be reached from here.
     */
    entryOf: (name) => entryOf(known.get(name) ?? menu.get(name), api.panelUrl()),
  };
}

/**
 * A meta file is a package's own; an address in it must be one that leads to a page. One without a
 * host is the panel's, which need not be at this page's own port.
 */
function entryOf({ entry } = {}, panelUrl) {
  if (!entry || panelUrl === undefined) return undefined;
  const base = new URL(panelUrl, location.href);
  if (!URL.canParse(entry, base)) return undefined;
  const { protocol, href } = new URL(entry, base);
  if (!/^https?:$/.test(protocol)) return undefined;
  return panelUrl === '' && !URL.canParse(entry) ? '' : href;
}
