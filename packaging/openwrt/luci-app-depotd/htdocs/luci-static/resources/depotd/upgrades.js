'use strict';
'require baseclass';
'require rpc';
'require uci';

/* How many packages have a newer version, for LuCI's own pages. */

const DEFAULT_BASE = '/cgi-bin/panel';
const KEPT = 'depotd-upgrades';
/* The status page asks all its boxes every few seconds, and each page asks for its menu. */
const ASK_AGAIN_MS = 600000;

let answer;

/* LuCI's cookie does not reach depotd's path: depotd makes a session of its own from LuCI's. */
async function ask() {
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

function kept() {
  const { at = -Infinity, number = 0 } = JSON.parse(sessionStorage.getItem(KEPT) || '{}');
  return Math.abs(Date.now() - at) < ASK_AGAIN_MS ? number : undefined;
}

return baseclass.extend({
  /* 0 where nobody can tell. */
  async count() {
    const number = kept();
    if (number !== undefined) return number;
    answer ||= ask()
      .catch(() => 0)
      .then((found) => {
        answer = undefined;
        sessionStorage.setItem(KEPT, JSON.stringify({ at: Date.now(), number: found }));
        return found;
      });
    return answer;
  },

  forget() {
    sessionStorage.removeItem(KEPT);
  },
});
