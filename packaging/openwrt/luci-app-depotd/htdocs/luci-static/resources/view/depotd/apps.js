'use strict';
'require view';
'require dom';
'require rpc';
'require uci';

/* depotd's own page in a frame. What the two say to each other: docs/reference/luci.md. */

const DEFAULT_BASE = '/cgi-bin/panel';
/* The frame is never lower than this, in CSS pixels: a dialog of the page has to fit. */
const LEAST_HEIGHT = 420;
/* A page that goes on asking for a log-in gets one this often at most. */
const LOGIN_PAUSE_MS = 10000;

const messages = {
  403: _('The session of LuCI does not count: log in again, or ask for access to "depotd".'),
  404: _('The web server does not know depotd: its program in /www/cgi-bin is missing.'),
  429: _('Too many log-ins failed: wait a few minutes.'),
  502: _('depotd ended before it answered: see the system log.'),
  503: _('depotd is not running. Look for it under System → Startup, and in the system log.'),
};

/*
 * LuCI's cookie reaches LuCI's path only: its session gets a cookie of depotd's for the other, and
 * a key, which lies where pages of this origin alone can read it: the frame does.
 */
function handOver(base) {
  return ask(`${base}/admin/login`, {
    method: 'POST',
    body: new URLSearchParams({ session: rpc.getSessionID() }),
  }).then((headers) =>
    localStorage.setItem(`depotd-key:${base}/`, headers.get('X-Depotd-Key') || ''),
  );
}

/* A frame would show an error as it comes. */
function ask(address, options) {
  return fetch(address, { credentials: 'same-origin', ...options }).then(
    ({ ok, status, headers }) => {
      if (!ok) throw new Error(messages[status] || `HTTP ${status}`);
      return headers;
    },
    () => {
      throw new Error(_('The device does not answer.'));
    },
  );
}

/* What the theme paints behind the view decides; each theme has its own way to be dark. */
function isDark() {
  for (let node = document.querySelector('#view'); node; node = node.parentElement) {
    const colour = getComputedStyle(node).backgroundColor.match(/[\d.]+/g) || [];
    const [red, green, blue, opacity] = colour.map(Number);
    const isPainted = blue !== undefined && opacity !== 0;
    if (isPainted) return red * 0.299 + green * 0.587 + blue * 0.114 < 128;
  }
  return getComputedStyle(document.documentElement).colorScheme === 'dark';
}

const theme = () => (isDark() ? 'dark' : 'light');

/* As high as its page, and never higher than what the window shows below LuCI's own head. */
function fit(frame, wantedHeight) {
  const above = frame.getBoundingClientRect().top + window.scrollY;
  const below = document.querySelector('footer')?.offsetHeight ?? 0;
  const room = window.innerHeight - Math.min(above, window.innerHeight / 3) - below - 16;
  frame.style.height = `${Math.max(LEAST_HEIGHT, Math.min(wantedHeight, room))}px`;
}

function createFrame(base) {
  const lang = document.documentElement.lang || 'en';
  const frame = E('iframe', {
    src: `${base}/?${new URLSearchParams({ theme: theme(), lang })}`,
    title: _('Apps'),
    style: 'display:block;width:100%;border:0;border-radius:6px',
  });
  let wantedHeight = Infinity;
  let askedAt = -Infinity;
  const send = (name, more) =>
    frame.contentWindow?.postMessage(Object.assign({ depotd: name }, more), location.origin);
  const receivers = {
    height: ({ height }) => {
      wantedHeight = Number(height) || Infinity;
      fit(frame, wantedHeight);
    },
    'login-needed': () => {
      if (performance.now() - askedAt < LOGIN_PAUSE_MS) return;
      askedAt = performance.now();
      handOver(base).then(
        () => send('logged-in'),
        () => {},
      );
    },
  };
  window.addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== frame.contentWindow) return;
    if (Object.hasOwn(receivers, data?.depotd)) receivers[data.depotd](data);
  });
  window.addEventListener('resize', () => fit(frame, wantedHeight));
  const sendTheme = () => send('theme', { theme: theme() });
  new MutationObserver(sendTheme).observe(document.documentElement, { attributes: true });
  window
    .matchMedia('(prefers-color-scheme: dark)')
    .addEventListener('change', () => setTimeout(sendTheme));
  requestAnimationFrame(() => fit(frame, wantedHeight));
  return frame;
}

return view.extend({
  load() {
    return uci.load('depotd').catch(() => null);
  },

  render() {
    const main = uci.get('depotd', 'main') || uci.sections('depotd', 'depotd')[0] || {};
    const base = main.base || DEFAULT_BASE;
    const isHandedOver = (main.auth || 'panel') === 'panel';
    const root = E('div', { class: 'depotd' });
    const open = () =>
      (isHandedOver ? handOver(base) : ask(`${base}/`, { method: 'HEAD' })).then(
        () => dom.content(root, createFrame(base)),
        (error) =>
          dom.content(
            root,
            E('div', { class: 'alert-message warning' }, [
              E('p', {}, error.message),
              E('button', { class: 'btn cbi-button', click: open }, _('Try again')),
            ]),
          ),
      );
    return open().then(() => root);
  },

  handleSaveApply: null,
  handleSave: null,
  handleReset: null,
});
