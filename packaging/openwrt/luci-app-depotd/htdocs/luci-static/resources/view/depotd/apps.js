'use strict';
'require view';
'require dom';
'require rpc';
'require ui';
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

/* The colour of what is behind it; undefined if nothing is painted. */
function painted(node) {
  const colour = getComputedStyle(node).backgroundColor;
  const channels = (colour.match(/[\d.]+/g) || []).map(Number);
  return channels.length < 3 || channels[3] === 0 ? undefined : colour;
}

const channelsOf = (colour) =>
  colour
    .match(/[\d.]+/g)
    .slice(0, 3)
    .map(Number);

const isColourful = (colour) =>
  Math.max(...channelsOf(colour)) - Math.min(...channelsOf(colour)) > 40;

/* WCAG 2.2, "relative luminance", with one exponent for all of its curve. */
function luminance(colour) {
  const [red, green, blue] = channelsOf(colour).map((channel) => (channel / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [dark, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

/* The colour, as near to the ink as it has to be to be read on the ground. */
function legible(colour, ground, ink) {
  const goal = channelsOf(ink);
  const mixed = (share) =>
    `rgb(${channelsOf(colour).map((channel, at) => Math.round(channel * (1 - share) + goal[at] * share))})`;
  const share = [0, 0.1, 0.2, 0.3, 0.4, 0.5].find((some) => contrast(mixed(some), ground) >= 4.5);
  return mixed(share ?? 0.6);
}

/* What the theme paints behind the view, and what its own elements look like; each has its own way. */
function look() {
  const view = document.querySelector('#view');
  let ground;
  for (let node = view; node && !ground; node = node.parentElement) ground = painted(node);
  if (!ground) {
    const isDark = getComputedStyle(document.documentElement).colorScheme === 'dark';
    ground = isDark ? 'rgb(34, 34, 34)' : 'rgb(255, 255, 255)';
  }
  const link = E('a', { href: '#' });
  const tab = document.querySelector('#tabmenu .active a') || link;
  const button = E('button', { class: 'btn cbi-button' });
  const card = E('div', { class: 'cbi-section' });
  const probes = E('div', { style: 'position:absolute;visibility:hidden' }, [link, button, card]);
  view.append(probes);
  const { color: ink, fontFamily: font, fontSize } = getComputedStyle(view);
  const behind = painted(card) || ground;
  /* Themes have a colour for the tab that is shown, or for links. */
  const colours = [tab, link].map((node) => getComputedStyle(node).color);
  const accent = legible(colours.find(isColourful) || colours[1], behind, ink);
  const found = {
    theme: luminance(ground) > 0.18 ? 'light' : 'dark',
    ink,
    font,
    size: `${Math.min(16, Math.max(14, parseFloat(fontSize)))}px`,
    card: behind,
    accent,
    'on-accent': luminance(accent) > 0.18 ? '#111' : '#fff',
    radius: getComputedStyle(button).borderTopLeftRadius,
  };
  probes.remove();
  return found;
}

/* As high as its page: LuCI scrolls, not the frame. */
function fit(frame, wantedHeight) {
  frame.style.height = `${Math.max(LEAST_HEIGHT, wantedHeight || window.innerHeight * 0.7)}px`;
}

/* Which piece of the frame is in sight. */
function seen(frame) {
  const { top, bottom } = frame.getBoundingClientRect();
  const from = Math.max(0, -top);
  return { top: from, height: Math.min(window.innerHeight, bottom) - Math.max(0, top) };
}

function createFrame(base) {
  const lang = document.documentElement.lang || 'en';
  const first = look();
  const frame = E('iframe', {
    src: `${base}/?${new URLSearchParams(Object.assign({ lang }, first))}`,
    title: _('Apps'),
    style: `display:block;width:100%;border:0;color-scheme:${first.theme}`,
  });
  let wantedHeight = 0;
  let askedAt = -Infinity;
  const send = (name, more) =>
    frame.contentWindow?.postMessage(Object.assign({ depotd: name }, more), location.origin);
  const sendSeen = () => send('seen', seen(frame));
  const receivers = {
    height: ({ height }) => {
      wantedHeight = Number(height);
      fit(frame, wantedHeight);
      sendSeen();
    },
    /* An app that came or went has an entry in LuCI's menu, which LuCI keeps. */
    changed: () => ui.menu.flushCache(),
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
  window.addEventListener('resize', sendSeen);
  /* In some themes something else than the window scrolls. */
  window.addEventListener('scroll', sendSeen, { capture: true, passive: true });
  const sendTheme = () => {
    const now = look();
    frame.style.colorScheme = now.theme;
    send('theme', now);
  };
  new MutationObserver(sendTheme).observe(document.documentElement, { attributes: true });
  window
    .matchMedia('(prefers-color-scheme: dark)')
    .addEventListener('change', () => setTimeout(sendTheme));
  fit(frame, wantedHeight);
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
