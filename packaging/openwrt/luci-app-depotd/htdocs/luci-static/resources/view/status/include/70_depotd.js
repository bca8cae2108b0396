'use strict';
'require baseclass';
'require rpc';
'require uci';

/* On LuCI's status page: how many packages have a newer version, if any has. */

const DEFAULT_BASE = '/cgi-bin/panel';
/* The status page asks all its boxes every few seconds. */
const ASK_AGAIN_MS = 600000;

const TITLE = _('Newer versions');
let asked = -Infinity;
let answer = Promise.resolve(0);

/* LuCI's cookie does not reach depotd's path: depotd makes a session of its own from LuCI's. */
async function count() {
  await uci.load('depotd').catch(() => null);
  const main = uci.get('depotd', 'main') || uci.sections('depotd', 'depotd')[0] || {};
  if ((main.auth || 'panel') !== 'panel') return 0;
  const base = main.base || DEFAULT_BASE;
  const login = await fetch(`${base}/admin/login`, {
    method: 'POST',
    credentials: 'same-origin',
    body: new URLSearchParams({ session: rpc.getSessionID() }),
  });
  if (!login.ok) return 0;
  const key = login.headers.get('X-Depotd-Key') || '';
  /* Pages of depotd go on with the key that goes with the cookie. */
  localStorage.setItem(`depotd-key:${base}/`, key);
  const plan = await fetch(`${base}/admin/store/plan?operation=upgrade&all=true`, {
    credentials: 'same-origin',
    headers: { 'X-Depotd-Key': key },
  });
  return plan.ok ? (await plan.json()).upgrades.length : 0;
}

/* Beside the entry in LuCI's menu, on this page: LuCI has no place for code of an app on others. */
function mark(number) {
  for (const link of document.querySelectorAll(`a[href="${L.url('admin/system/depotd')}"]`)) {
    link.querySelector('small')?.remove();
    link.append(E('small', {}, ` (${number})`));
  }
}

return baseclass.extend({
  title: TITLE,

  load() {
    const now = performance.now();
    if (now - asked > ASK_AGAIN_MS) {
      asked = now;
      answer = count().catch(() => 0);
    }
    return answer;
  },

  render(number) {
    if (!number) {
      this.title = '';
      return null;
    }
    this.title = TITLE;
    mark(number);
    return E('p', {}, [
      E(
        'a',
        { href: L.url('admin/system/depotd/apps') },
        _('Packages that can be upgraded: %d').format(number),
      ),
    ]);
  },
});
