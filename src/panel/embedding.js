const THEMES = ['light', 'dark'];
/** What the embedding page lends of its own look: a CSS property that takes it, each. */
const LOOK = {
  ink: 'color',
  card: 'color',
  accent: 'color',
  'on-accent': 'color',
  radius: 'border-radius',
  size: 'font-size',
  font: 'font-family',
};
const APPEARANCE = ['theme', 'lang', ...Object.keys(LOOK)];

/**
 * The page inside another page of this device, such as LuCI's (docs/reference/luci.md). The query
 * says `theme=light|dark` and how LuCI looks; messages say the rest. Both ways a message is an
 * object whose `depotd` names it:
 *  - to the page: `theme` (with `theme` and the look), `seen` (with `top` and `height` of what is
 *    in sight of the frame) and `logged-in`;
 *  - from the page: `height` (with `height` in CSS pixels), `login-needed`, and `changed` when a
 *    task has ended.
 * Nothing is sent to another origin, and nothing is believed that comes from one or from another
 * window than the parent.
 * @param onLoggedIn called when whoever embeds the page has logged it in
 */
export function createEmbedding({ onLoggedIn }) {
  const isEmbedded = parent !== window;
  // A password of depotd's own is nothing that another page could hand over.
  const isLoggedInByParent = isEmbedded && document.documentElement.dataset.auth !== 'password';
  const send = (name, more = {}) => parent.postMessage({ depotd: name, ...more }, location.origin);
  const receivers = { theme: setLook, seen: setSeen, 'logged-in': onLoggedIn };

  setLook(Object.fromEntries(new URLSearchParams(location.search)));
  if (isEmbedded) {
    addEventListener('message', ({ origin, source, data }) => {
      if (origin !== location.origin || source !== parent) return;
      if (Object.hasOwn(receivers, data?.depotd)) receivers[data.depotd](data);
    });
    const { body, documentElement } = document;
    documentElement.dataset.embedded = '';
    new ResizeObserver(() => send('height', { height: body.offsetHeight })).observe(body);
  }
  return {
    isLoggedInByParent,
    askForLogin: () => send('login-needed'),
    sayChanged: () => isEmbedded && send('changed'),
    /** Loaded again, the embedding page logs people in and comes back here. */
    loginLink: isLoggedInByParent ? { href: parent.location.href, target: '_top' } : undefined,
  };
}

/** Any other theme is the browser's own; a look that is not whole is this page's own. */
export function setLook({ theme, ...look }) {
  const { dataset, style } = document.documentElement;
  if (THEMES.includes(theme)) dataset.theme = theme;
  else delete dataset.theme;
  const isWhole = Object.entries(LOOK).every(([name, property]) =>
    CSS.supports(property, look[name] ?? ''),
  );
  if (!isWhole) return void delete dataset.look;
  dataset.look = '';
  for (const name of Object.keys(LOOK)) style.setProperty(`--look-${name}`, look[name]);
}

function setSeen({ top, height }) {
  const { style } = document.documentElement;
  style.setProperty('--seen-top', `${Number(top) || 0}px`);
  style.setProperty('--seen-height', `${Number(height) || innerHeight}px`);
}

/** The part of a query that says how pages look: the log-in page takes it over, and back. */
export function appearanceQuery(search) {
  const given = [...new URLSearchParams(search)].filter(([name]) => APPEARANCE.includes(name));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
