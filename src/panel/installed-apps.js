/**
 * What the installed apps say of themselves beside what the catalogue knows: the address at which
 * each is opened.
 */
export function createInstalledApps({ api, onChange }) {
  let entries = new Map();
  return {
    load: async (report) => {
      try {
        const apps = await api.get('admin/store/installed');
        entries = new Map(apps.map((app) => [app.name, entryOf(app)]));
        onChange();
      } catch (error) {
        report(error);
      }
    },
    /** The address of an app's own page; undefined if it has none. */
    entryOf: (name) => entries.get(name),
  };
}

/** A meta file is a package's own; an address in it must be one that leads to a page. */
function entryOf({ entry }) {
  if (!entry || !URL.canParse(entry, location.href)) return undefined;
  const { protocol, href } = new URL(entry, location.href);
  return /^https?:$/.test(protocol) ? href : undefined;
}
