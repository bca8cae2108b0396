import { createHash } from 'node:crypto';

import type { Language } from './language.js';
import { LOGIN_TEXTS, refusalText, type LoginTexts } from './texts/login-page.ts';

/** What the page asks for. */
export interface LoginForm {
  /** Whether there are several users, the device's. */
  asksUser: boolean;
  /** Whether there is anything to log in with. */
  isPasswordSet: boolean;
}

export interface LoginPageOptions {
  language: Language;
  problem?: LoginProblem;
}

/** Why a log-in was refused that the browser sent without the script. */
export interface LoginProblem {
  message: string;
  status: number;
  headers: Record<string, string>;
  /** As it was given. */
  username: string | undefined;
}

/**
 * The log-in page. It needs nothing from elsewhere, and a browser that keeps to its policy (CSP
 * level 3) lets it load and send nothing but what stands here, and be framed by this device alone.
 * It works without its script, too: the field `page` asks for a page as the answer.
 */
export function loginPage(form: LoginForm, options: LoginPageOptions): Response {
  const { problem } = options;
  const policy =
    `default-src 'none'; script-src '${hashOf(SCRIPT)}'; style-src '${hashOf(STYLE)}'; ` +
    `connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    // With no-referrer a form's Origin is null, which is refused (Fetch standard, Origin header).
    'referrer-policy': 'same-origin',
    ...problem?.headers,
  };
  return new Response(pageOf(form, options), { status: problem?.status ?? 200, headers });
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function pageOf(
  { asksUser, isPasswordSet }: LoginForm,
  { language, problem }: LoginPageOptions,
): string {
  const texts = LOGIN_TEXTS[language];
  const user = asksUser ? userField(texts, problem?.username ?? 'root') : '';
  const fields = isPasswordSet ? `${user}${passwordField(texts, !asksUser)}` : howToSet(texts);
  const message = problem === undefined ? '' : refusalText(texts, problem.message);
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${texts.title}</title>
<style>${STYLE}</style>
<form method="post" data-unreachable="${escape(texts.unreachable)}" data-not-kept="${escape(texts.notKept)}">
<h1>${texts.title}</h1>
${fields}
<p role="alert">${escape(message)}</p>
</form>
<script>${SCRIPT}</script>
</html>
`;
}

function userField({ user }: LoginTexts, value: string): string {
  return `<label for="username">${user}</label>
<input id="username" name="username" value="${escape(value)}" autocomplete="username" autocapitalize="none" spellcheck="false" required>
`;
}

/** @param isRequired a fresh device has an empty one */
function passwordField({ title, password }: LoginTexts, isRequired: boolean): string {
  return `<label for="password">${password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" autofocus${isRequired ? ' required' : ''}>
<input type="hidden" name="page" value="1">
<button>${title}</button>`;
}

function howToSet({ noPassword }: LoginTexts): string {
  return `<p class="note">${noPassword}</p>
<code>depotctl passwd</code>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
:root[data-theme=light]{color-scheme:light}
:root[data-theme=dark]{color-scheme:dark}
body{margin:0;background:light-dark(#f3f5f8,#0e1116);color:light-dark(#191d24,#e7eaf0)}
form{max-width:20rem;margin:15vh auto;padding:1.25rem;display:grid;gap:.75rem;background:light-dark(#fff,#171b22);border:1px solid light-dark(#dfe3ea,#2a313c);border-radius:.9rem}
@media(max-width:22rem){form{margin:1rem}}
h1{font-size:1.15rem;margin:0}
input,button{font:inherit;padding:.5rem .8rem;border:1px solid light-dark(#dfe3ea,#2a313c);border-radius:.6rem;background:light-dark(#fff,#10141a);color:inherit}
button{background:light-dark(#2b59d9,#86a8ff);color:light-dark(#fff,#0c1531);font-weight:550;cursor:pointer}
:focus-visible{outline:2px solid light-dark(#2b59d9,#86a8ff);outline-offset:2px}
p{margin:0;color:light-dark(#b3261e,#ff8f86)}
p.note{color:inherit}
p:empty{display:none}`;

/**
 * The answer is asked for as a page, so that what was wrong is told in the page's language. What
 * the query says of the look (`theme`, `lang`) is handed on.
 */
const SCRIPT = `const form = document.querySelector('form');
const alertLine = form.querySelector('p[role]');
const theme = new URLSearchParams(location.search).get('theme');
if (theme) document.documentElement.dataset.theme = theme;
async function problemOf(answer) {
  const text = await answer.text();
  const page = new DOMParser().parseFromString(text, 'text/html');
  return page.querySelector('p[role]')?.textContent ?? JSON.parse(text).msg;
}
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  alertLine.textContent = '';
  const body = new URLSearchParams(new FormData(form));
  try {
    const answer = await fetch('', { method: 'POST', body, redirect: 'manual' });
    if (answer.type !== 'opaqueredirect') alertLine.textContent = await problemOf(answer);
    else if ((await fetch('store/token')).ok) location.replace('../' + location.search);
    else alertLine.textContent = form.dataset.notKept;
  } catch {
    alertLine.textContent = form.dataset.unreachable;
  }
});`;
