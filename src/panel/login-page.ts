import { createHash } from 'node:crypto';

/**
 * The log-in page. It needs nothing from elsewhere, and a browser that keeps to its policy (CSP
 * level 3) lets it load, send and be framed by nothing but what stands here.
 * @param next where to go after the log-in: a path on this host, which `main.base` has checked
 */
export function loginPage(next: string): Response {
  const script = SCRIPT.replace('NEXT', JSON.stringify(next));
  const policy = `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(STYLE)}'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
  return new Response(
    PAGE.replace('SCRIPT', () => script).replace('STYLE', () => STYLE),
    { headers },
  );
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Log in</title>
<style>STYLE</style>
<form method="post">
<h1>Log in</h1>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>
<button>Log in</button>
<p role="alert"></p>
</form>
<script>SCRIPT</script>
</html>
`;

const STYLE = `:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
body{margin:0;background:light-dark(#f3f5f8,#0e1116);color:light-dark(#191d24,#e7eaf0)}
form{max-width:20rem;margin:15vh auto;padding:1.25rem;display:grid;gap:.75rem;background:light-dark(#fff,#171b22);border:1px solid light-dark(#dfe3ea,#2a313c);border-radius:.9rem}
@media(max-width:22rem){form{margin:1rem}}
h1{font-size:1.15rem;margin:0}
input,button{font:inherit;padding:.5rem .8rem;border:1px solid light-dark(#dfe3ea,#2a313c);border-radius:.6rem;background:light-dark(#fff,#10141a);color:inherit}
button{background:light-dark(#2b59d9,#86a8ff);color:light-dark(#fff,#0c1531);font-weight:550;cursor:pointer}
:focus-visible{outline:2px solid light-dark(#2b59d9,#86a8ff);outline-offset:2px}
p{margin:0;color:light-dark(#b3261e,#ff8f86)}
p:empty{display:none}`;

const SCRIPT = `const form = document.querySelector('form');
const alertLine = form.querySelector('p');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  alertLine.textContent = '';
  try {
    const answer = await fetch('', { method: 'POST', body: new URLSearchParams(new FormData(form)) });
    if (answer.ok) location.replace(NEXT);
    else alertLine.textContent = (await answer.json()).msg;
  } catch {
    alertLine.textContent = 'The device does not answer.';
  }
});`;
