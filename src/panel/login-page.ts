import { voiceOf, type Voice } from '../languages/languages.ts';
import { hashOf, unpackText } from './create-page.ts';
import packedScript from './login.client.js';
import packedStyle from './styles/login.css';

/** What the page asks for. */
export interface LoginForm {
  /** Whether there are several users, the device's. */
  asksUser: boolean;
  /** Whether there is anything to log in with. */
  isPasswordSet: boolean;
  /** Whether the owner, root, logs in without a password. */
  isOwnerWithout?: boolean;
}

export interface LoginPageOptions {
  /** Code of one of the languages. */
  language: string;
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
 * By its policy (CSP Level 3) it loads and sends nothing but what stands here, and is framed by
 * this device alone. Without the script the field `page` asks for a page as the answer.
 */
export function loginPage(form: LoginForm, options: LoginPageOptions): Response {
  const { problem } = options;
  const [style, script] = [unpackText(packedStyle), unpackText(packedScript)];
  const policy =
    `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; ` +
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
  return new Response(pageOf(form, { ...options, style, script }), {
    status: problem?.status ?? 200,
    headers,
  });
}

function pageOf(
  { asksUser, isPasswordSet, isOwnerWithout = false }: LoginForm,
  { language, problem, style, script }: LoginPageOptions & { style: string; script: string },
): string {
  const { t, say } = voiceOf(language);
  const user = asksUser ? userField(t, problem?.username ?? 'root') : '';
  const hint = isOwnerWithout ? `<p class="note">${ownerWithout(t)}</p>\n` : '';
  const fields = isPasswordSet ? `${hint}${user}${passwordField(t, !asksUser)}` : howToSet(t);
  const message = problem === undefined ? '' : say(problem.message);
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${t('Log in')}</title>
<style>${style}</style>
<main>
<form method="post" ${attribute('unreachable', t('The device does not answer.'))}
${attribute('not-kept', notKept(t))}>
<h1>${t('Log in')}</h1>
${fields}
<p role="alert">${escape(message)}</p>
</form>
</main>
<script>${script}</script>
</html>
`;
}

type Translate = Voice['t'];

function ownerWithout(t: Translate): string {
  return t(
    'The user root has no password yet: leave the field empty. Set a password soon, since ' +
      'everybody in this network can log in.',
  );
}

/** The browser has another cookie of this name, which is for HTTPS alone. */
function notKept(t: Translate): string {
  return t(
    'The browser did not keep the log-in. It may hold one from HTTPS: use that, or log out ' +
      'there first.',
  );
}

function userField(t: Translate, value: string): string {
  return `<label for="username">${t('User')}</label>
<input id="username" name="username" value="${escape(value)}" required
autocomplete="username" autocapitalize="none" spellcheck="false">
`;
}

/** @param isRequired a fresh device has an empty one */
function passwordField(t: Translate, isRequired: boolean): string {
  return `<label for="password">${t('Password')}</label>
<input id="password" name="password" type="password" autofocus${isRequired ? ' required' : ''}
autocomplete="current-password">
<input type="hidden" name="page" value="1">
<button>${t('Log in')}</button>`;
}

function howToSet(t: Translate): string {
  const noPassword = t(
    'No password is set yet, so nobody can log in. Set one on the device, as root, then load ' +
      'this page again:',
  );
  return `<p class="note">${noPassword}</p>
<code>depotctl passwd</code>`;
}

function attribute(name: string, value: string): string {
  return `data-${name}="${escape(value)}"`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
