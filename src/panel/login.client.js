/**
 * What was wrong comes as a page, in its language. The session's second half is kept as in
 * session-key.js; what the query says of the look (`theme`, `lang`) is handed on.
 */
const form = document.querySelector('form');
const alertLine = form.querySelector('p[role]');
const query = new URLSearchParams(location.search);
const theme = query.get('theme');
if (theme) document.documentElement.dataset.theme = theme;
let kept;
try {
  kept = localStorage.getItem('depotd-lang');
} catch {
  // A browser that keeps nothing keeps no language.
}
if (kept && !query.has('lang')) {
  query.set('lang', kept);
  location.search = query;
}
const { pathname } = new URL('../', location.href);
async function problemOf(answer) {
  const text = await answer.text();
  const page = new DOMParser().parseFromString(text, 'text/html');
  return page.querySelector('p[role]')?.textContent ?? JSON.parse(text).msg;
}
async function isKept(key) {
  try {
    localStorage.setItem('depotd-key:' + pathname, key);
  } catch {
    return false;
  }
  const headers = { 'x-depotd-key': key, accept: '*/*;depotd-key=' + key };
  return (await fetch('store/token', { headers })).ok;
}
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  alertLine.textContent = '';
  const body = new URLSearchParams(new FormData(form));
  body.set('page', 'script');
  try {
    const answer = await fetch('', { method: 'POST', body });
    if (!answer.ok) alertLine.textContent = await problemOf(answer);
    else if (await isKept(answer.headers.get('x-depotd-key'))) {
      location.replace('../' + location.search);
    } else alertLine.textContent = form.dataset.notKept;
  } catch {
    alertLine.textContent = form.dataset.unreachable;
  }
});
