import { byId, setText } from './dom.js';
import { t } from './i18n.js';

const HOME = 'discover';
/** Names have no slash. */
const PACKAGE_SUFFIX = '/package';

/**
 * The views, each a section of the page with the id `view-NAME`, by the address's fragment:
 * `#installed`, `#app/NAME`, `#app/NAME/package`, `#activity/TASK`. The browser's history works
 * with them.
 * @param views by name: `{ show(argument), hide?() }`; `argument` is what stands after the slash
 */
export function createRouter(views) {
  const links = [...document.querySelectorAll('nav a')];
  let current;

  const open = ({ name, argument }, isNavigation) => {
    if (current !== undefined && current !== name) views[current].hide?.();
    for (const each of Object.keys(views)) byId(`view-${each}`).hidden = each !== name;
    for (const link of links) {
      link.removeAttribute('aria-current');
      if (link.hash !== `#${name}`) continue;
      link.setAttribute('aria-current', 'page');
      // With large letters the menu is wider than the page.
      if (isNavigation) link.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
    current = name;
    const title = byId(`${name}-title`);
    if (name !== 'app') leadBackTo(location.hash || name, title);
    const shown = views[name].show(argument);
    document.title = `${title.textContent} – ${t('Apps')}`;
    if (!isNavigation) return shown;
    scrollTo(0, 0);
    // In a frame it is the embedding page that scrolls.
    document.body.firstElementChild.scrollIntoView({ block: 'nearest' });
    title.focus({ preventScroll: true });
    return shown;
  };
  const routeOf = (hash) => {
    const [, name = '', argument = ''] = /^#([a-z]+)(?:\/(.*))?$/.exec(hash) ?? [];
    return Object.hasOwn(views, name)
      ? { name, argument: decode(argument) }
      : { name: HOME, argument: '' };
  };

  addEventListener('hashchange', () => open(routeOf(location.hash), true));
  leadBackTo(HOME, byId(`${HOME}-title`));
  return {
    /** @returns a promise of the first view's content, if it has to be loaded */
    start: () => open(routeOf(location.hash), false),
    current: () => current,
    go: (hash) => {
      if (location.hash === hash) open(routeOf(hash), true);
      else location.hash = hash;
    },
  };
}

/** An app's own view leads back to where somebody came from. */
function leadBackTo(hash, title) {
  const link = byId('app-back');
  link.hash = hash;
  setText(link.querySelector('span'), t('Back to {view}', { view: title.textContent }));
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of an app's or a package's own view. Both may have the same name. */
export function detailsAddress({ name, kind }) {
  return `#app/${encodeURIComponent(name)}${kind === 'package' ? PACKAGE_SUFFIX : ''}`;
}

/** @returns what the details are asked for with */
export function detailsQuery(argument) {
  return argument.endsWith(PACKAGE_SUFFIX)
    ? { package: argument.slice(0, -PACKAGE_SUFFIX.length), kind: 'package' }
    : { package: argument };
}
