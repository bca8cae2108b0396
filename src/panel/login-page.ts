import { createHash } from 'node:crypto';

/** What the page asks for. */
export interface LoginForm {
  /** Whether there are several users, the device's. */
  asksUser: boolean;
  /** Whether there is anything to log in with. */
  isPasswordSet: boolean;
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
export function loginPage(form: LoginForm, problem?: LoginProblem): Response {
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
  return new Response(pageOf(form, problem), { status: problem?.status ?? 200, headers });
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function pageOf({ asksUser, isPasswordSet }: LoginForm, problem: LoginProblem | undefined): string {
  const user = asksUser ? userField(problem?.username ?? 'root') : '';
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Log in</title>
<style>${STYLE}</style>
<form method="post">
<h1>Log in</h1>
${isPasswordSet ? `${user}${passwordField(!asksUser)}` : NO_PASSWORD}
<p role="alert">${escape(problem?.message ?? '')}</p>
</form>
<script>${SCRIPT}</script>
</html>
`;
}

function userField(value: string): string {
  return `<label for="username">User</label>
<input id="username" name="username" value="${escape(value)}" autocomplete="username" autocapitalize="none" spellcheck="false" required>
`;
}

/** @param isRequired a fresh device has an empty one */
function passwordField(isRequired: boolean): string {
  return `<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" autofocus${isRequired ? ' required' : ''}>
<input type="hidden" name="page" value="1">
<button>Log in</button>`;
}

const NO_PASSWORD = `<p class="note">No password is set yet, so nobody can log in. Set one on the device, as root, then load this page again:</p>
<code>depotctl passwd</code>`;

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
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

const SCRIPT = `const form = document.querySelector('form');
const alertLine = form.querySelector('p[role]');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  alertLine.textContent = '';
  const fields = new URLSearchParams(new FormData(form));
  fields.delete('page');
  try {
    const answer = await fetch('', { method: 'POST', body: fields });
    if (!answer.ok) alertLine.textContent = (await answer.json()).msg;
    else if ((await fetch('store/token')).ok) location.replace('../');
    else alertLine.textContent = 'The browser did not keep the log-in. It may hold one from HTTPS: use that, or log out there first.';
  } catch {
    alertLine.textContent = 'The device does not answer.';
  }
});`;
