import { language } from './i18n.js';

/**
 * What the installed apps say of themselves beside what the catalogue knows: the address at which
 * each is opened, and its description in several languages.
 */
export function createInstalledApps({ api, onChange }) {
  let known = new Map();
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
    /** The address of an app's own page; undefined if it has none. */
    entryOf: (name) => entryOf(known.get(name)),
    /** undefined for what says nothing of itself. */
    describe: (name) => descriptionOf(known.get(name)),
  };
}

function descriptionOf({ description, description_en: english } = {}) {
  return language() === 'en' ? english || description : description || english;
}

/** A meta file is a package's own; an address in it must be one that leads to a page. */
function entryOf({ entry } = {}) {
  if (!entry || !URL.canParse(entry, location.href)) return undefined;
  const { protocol, href } = new URL(entry, location.href);
  return /^https?:$/.test(protocol) ? href : undefined;
}
