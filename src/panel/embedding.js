const THEMES = ['light', 'dark'];
const APPEARANCE = ['theme', 'lang'];

/**
 * The page inside another page of this device, such as LuCI's (docs/reference/luci.md). The query
 * says `theme=light|dark`; messages say the rest. Both ways a message is an object whose `depotd`
 * names it:
 *  - to the page: `theme` (with `theme`) and `logged-in`;
 *  - from the page: `height` (with `height` in CSS pixels) and `login-needed`.
 * Nothing is sent to another origin, and nothing is believed that comes from one or from another
 * window than the parent.
 * @param onLoggedIn called when whoever embeds the page has logged it in
 */
export function createEmbedding({ onLoggedIn }) {
  const isEmbedded = parent !== window;
  // A password of depotd's own is nothing that another page could hand over.
  const isLoggedInByParent = isEmbedded && document.documentElement.dataset.auth !== 'password';
  const send = (name, more = {}) => parent.postMessage({ depotd: name, ...more }, location.origin);
  const receivers = { theme: ({ theme }) => setTheme(theme), 'logged-in': onLoggedIn };

  setTheme(new URLSearchParams(location.search).get('theme'));
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
    /** Loaded again, the embedding page logs people in and comes back here. */
    loginLink: isLoggedInByParent ? { href: parent.location.href, target: '_top' } : undefined,
  };
}

/** Any other theme is the browser's own. */
function setTheme(theme) {
  if (THEMES.includes(theme)) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

/** Of a query what says how pages look: the log-in page takes it over, and hands it back. */
export function appearanceQuery(search) {
  const given = [...new URLSearchParams(search)].filter(([name]) => APPEARANCE.includes(name));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
